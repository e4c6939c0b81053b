package doctor

// Judging what a server is: its kind and version, its role, its cluster and
// its replicas.

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// kinds are servers other than Redis that tell their version in INFO, as
// redis_version tells that of the Redis they speak as.
func kinds() []string { return []string{"valkey", "dragonfly", "keydb", "kvrocks", "redict", "garnet"} }

const embedded = "embedded"

// kind returns what the server is, and its version. The embedded one has none.
func (f *facts) kind() (name, version string, err error) {
	for _, name := range kinds() {
		if version, err := f.info.get(name + "_version"); err == nil {
			return name, version, nil
		}
	}
	if name, _ := f.info.get("server_name"); name == embedded {
		return embedded, "", nil
	}
	version, err = f.info.get("redis_version")
	if err == nil {
		return "redis", version, nil
	}
	name, _ = f.hello.get("server")
	if version, helloErr := f.hello.get("version"); helloErr == nil && name != "" {
		return name, version, nil
	}
	return "", "", err
}

func judgeServer(f *facts, _ Options) finding {
	name, version, err := f.kind()
	if err != nil {
		return skip(err)
	}
	found := strings.TrimSpace(name + " " + version)
	switch {
	case name == embedded, name == "valkey":
		return ok("%s", found)
	case name != "redis":
		return warn(found, "it speaks as Redis does, and is none that the stores are tested on", "see that verify finds nothing after a while of use")
	case before62(version):
		return fail(found, "the scripts use options that came with Redis 6.2", "use Redis 6.2 or later, or Valkey")
	}
	return ok("%s", found)
}

// before62 tells whether a version of Redis is too old. One that does not read
// as a version is not.
func before62(version string) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, majorErr := strconv.Atoi(first)
	minor, minorErr := strconv.Atoi(second)
	return errors.Join(majorErr, minorErr) == nil && cmp.Or(cmp.Compare(major, 6), cmp.Compare(minor, 2)) < 0
}

func judgeProtocol(f *facts, _ Options) finding {
	version, err := f.hello.get("proto")
	if err != nil {
		return skip(err)
	}
	return ok("RESP%s", version)
}

// primary tells whether the server is one.
func (f *facts) primary() (bool, error) {
	role, err := f.info.get("role")
	if err != nil {
		if told, helloErr := f.hello.get("role"); helloErr == nil {
			role, err = told, nil
		}
	}
	return role == "master", err
}

func judgeRole(f *facts, o Options) finding {
	primary, err := f.primary()
	switch {
	case err != nil:
		return skip(err)
	case primary:
		return ok("primary")
	}
	found := "replica"
	if host, err := f.info.get("master_host"); err == nil {
		port, _ := f.info.get("master_port")
		link, _ := f.info.get("master_link_status")
		found = fmt.Sprintf("replica of %s port %s, link %s", host, port, link)
	}
	if o.ReadOnly {
		return warn(found, "what is read may be behind the primary, and a scan needs --live", "connect to the primary to be sure")
	}
	return fail(found, "nothing can be written, scans need --live, and what is read may be behind", "connect to the primary")
}

const clusterSlots = "16384"

func judgeCluster(f *facts, _ Options) finding {
	state, err := f.cluster.get("cluster_state")
	if err != nil {
		return skip(err)
	}
	served, _ := f.cluster.get("cluster_slots_ok")
	suspected, _ := f.cluster.get("cluster_slots_pfail")
	found := fmt.Sprintf("state %s, %s of %s slots served", state, served, clusterSlots)
	const advice = "see CLUSTER NODES: bring back what failed, or promote its replica"
	switch {
	case state != "ok", served != clusterSlots && suspected == "0":
		return fail(found, "keys in slots that nobody serves can be neither read nor written", advice)
	case suspected != "0":
		return warn(found+", "+suspected+" in doubt", "a primary does not answer another one, and may be about to fail", advice)
	}
	return ok("%s", found)
}

// maxLag is how many seconds a replica may be silent; by itself it tells where
// it is every second.
const maxLag = 10

func judgeReplicas(f *facts, _ Options) finding {
	if primary, err := f.primary(); err == nil && !primary {
		return skip(errors.New("the server is a replica itself"))
	}
	count, err := f.info.get("connected_slaves")
	if err != nil {
		return skip(err)
	}
	total, _ := strconv.Atoi(count)
	if total == 0 {
		return ok("none")
	}
	end := number(f.info, "master_repl_offset")
	var lag, behind int64
	var absent []string
	for i := range total {
		replica, _ := f.info.get("slave" + strconv.Itoa(i))
		of := pairs(replica)
		if of.values["state"] != "online" {
			absent = append(absent, of.values["ip"]+":"+of.values["port"])
			continue
		}
		lag = max(lag, number(of, "lag"))
		behind = max(behind, end-number(of, "offset"))
	}
	found := fmt.Sprintf("%d, last heard of %d s ago, at most %d bytes behind", total, lag, behind)
	if len(absent) > 0 {
		found = fmt.Sprintf("%d, not online: %s", total, strings.Join(absent, ", "))
	}
	if len(absent) > 0 || lag > maxLag {
		return warn(found, "a failover would lose what was written since", "see the log of the replica and the network to it")
	}
	return ok("%s", found)
}

// pairs reads name=value,name=value.
func pairs(text string) settings {
	s := settings{values: map[string]string{}}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		s.values[name] = value
	}
	return s
}

// number returns a value as a number, 0 where there is none.
func number(s settings, name string) int64 {
	value, _ := s.get(name)
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}
