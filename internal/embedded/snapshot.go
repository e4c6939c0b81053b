// Moving all data between an embedded server and its data file.

package embedded

import (
	"encoding/gob"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// record is one key in a data file.
type record struct {
	DB          int
	Key         string
	Type        string    // as TYPE names it
	ExpiresAtMs int64     // Unix time in milliseconds, 0 for never
	Values      []string  // the string; or elements; or members; or fields, each with its value after it
	Scores      []float64 // of the members of a zset
}

// load fills an empty server that does not serve yet with the data file's
// keys, without those whose moment has come at now.
func (d *dataFile) load(mini *miniredis.Miniredis, now time.Time) error {
	records, err := d.read()
	if err != nil {
		return err
	}
	for _, r := range records {
		ttl := time.UnixMilli(r.ExpiresAtMs).Sub(now)
		if r.ExpiresAtMs != 0 && ttl <= 0 {
			continue
		}
		db := mini.DB(r.DB)
		if err := r.put(db); err != nil {
			return storeerr.New(storeerr.Integrity, "data file %s: key %q: %w", d.path, r.Key, err)
		}
		if r.ExpiresAtMs != 0 {
			db.SetTTL(r.Key, ttl)
		}
	}
	return nil
}

// sound tells whether the values are such as the type has.
func (r *record) sound() bool {
	if r.DB < 0 || r.DB >= databases || len(r.Values) == 0 {
		return false
	}
	switch r.Type {
	case "string":
		return len(r.Values) == 1
	case "hash":
		return len(r.Values)%2 == 0
	case "zset":
		return len(r.Scores) == len(r.Values)
	}
	return r.Type == "list" || r.Type == "set"
}

// put adds the key to a database.
func (r *record) put(db *miniredis.RedisDB) (err error) {
	switch r.Type {
	case "string":
		return db.Set(r.Key, r.Values[0])
	case "hash":
		db.HSet(r.Key, r.Values...)
	case "list":
		_, err = db.Push(r.Key, r.Values...)
	case "set":
		_, err = db.SetAdd(r.Key, r.Values...)
	case "zset":
		for i, member := range r.Values {
			if _, err = db.ZAdd(r.Key, r.Scores[i], member); err != nil {
				return err
			}
		}
	}
	return err
}

// save writes all keys that a caller sees to the data file.
func (d *dataFile) save(call *caller) error {
	defer call.done()
	return d.write(func(to *gob.Encoder) error {
		for db := range databases {
			if _, err := call.do("SELECT", strconv.Itoa(db)); err != nil {
				return err
			}
			keys, err := call.strings("KEYS", "*")
			if err != nil {
				return err
			}
			slices.Sort(keys)
			for _, key := range keys {
				r := record{DB: db, Key: key}
				if err := r.get(call); err != nil {
					return fmt.Errorf("key %q: %w", key, err)
				}
				if err := to.Encode(r); err != nil {
					return fmt.Errorf("key %q: %w", key, err)
				}
			}
		}
		return nil
	})
}

// get reads the key's type, expiry and values.
func (r *record) get(call *caller) error {
	kind, err := call.do("TYPE", r.Key)
	if err != nil {
		return err
	}
	r.Type, _ = kind.(string)
	expiry, err := call.do("PEXPIRETIME", r.Key)
	if err != nil {
		return err
	}
	if ms, ok := expiry.(int); ok && ms > 0 {
		r.ExpiresAtMs = int64(ms)
	}
	switch r.Type {
	case "string":
		value, err := call.do("GET", r.Key)
		text, _ := value.(string)
		r.Values = []string{text}
		return err
	case "hash":
		r.Values, err = call.strings("HGETALL", r.Key)
	case "list":
		r.Values, err = call.strings("LRANGE", r.Key, "0", "-1")
	case "set":
		r.Values, err = call.strings("SMEMBERS", r.Key)
	case "zset":
		var pairs []string
		if pairs, err = call.strings("ZRANGE", r.Key, "0", "-1", "WITHSCORES"); err == nil {
			return r.split(pairs)
		}
	default:
		err = fmt.Errorf("a %s has no place in a data file", r.Type)
	}
	return err
}

// split sets members and scores from a reply WITHSCORES.
func (r *record) split(pairs []string) error {
	for pair := range slices.Chunk(pairs, 2) {
		score, err := strconv.ParseFloat(pair[1], 64)
		if err != nil {
			return err
		}
		r.Values = append(r.Values, pair[0])
		r.Scores = append(r.Scores, score)
	}
	return nil
}

// doorCommand is the command by which a script of ours calls back. Scripts run
// while miniredis holds its lock, and there is no other way to hold it over
// several commands.
const doorCommand = "KEYSPACECTL.SAVE"

// saveLive saves while clients are served, from inside a script, so that the
// file shows one moment.
func (s *Server) saveLive() error {
	var saved error
	save := func(state any) { saved = s.data.save(s.caller(state)) }
	s.door.Store(&save)
	call := s.caller(nil)
	defer call.done()
	if _, err := call.do("EVAL", "return redis.call('"+doorCommand+"')", "0"); err != nil {
		return err
	}
	return saved
}

// openDoor runs what waits for the callback of the script, if anything does.
func (s *Server) openDoor(c *server.Peer) bool {
	inside := s.door.Swap(nil)
	if inside == nil {
		return false
	}
	(*inside)(c.Ctx)
	c.WriteOK()
	return true
}
