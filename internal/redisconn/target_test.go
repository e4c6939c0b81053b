// Tests of how servers are named, and that no error tells a secret.
package redisconn_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]redisconn.Target{
		"redis://":                       {Network: "tcp", Addr: "127.0.0.1:6379"},
		"redis://db.example":             {Network: "tcp", Addr: "db.example:6379"},
		"REDIS://db.example:7000/":       {Network: "tcp", Addr: "db.example:7000"},
		"redis://[::1]:6379/3":           {Network: "tcp", Addr: "[::1]:6379", DB: new(3)},
		"redis://[::1]":                  {Network: "tcp", Addr: "[::1]:6379"},
		"redis://h/3?db=3":               {Network: "tcp", Addr: "h:6379", DB: new(3)},
		"redis://h?db=0":                 {Network: "tcp", Addr: "h:6379", DB: new(0)},
		"rediss://h":                     {Network: "tcp", Addr: "h:6379", TLS: &redisconn.TLS{}},
		"redis://bob@h":                  {Network: "tcp", Addr: "h:6379", Username: "bob"},
		"redis://:pw@h":                  {Network: "tcp", Addr: "h:6379", Password: "pw"},
		"redis://b%40b:a:b+c@h":          {Network: "tcp", Addr: "h:6379", Username: "b@b", Password: "a:b+c"},
		"unix:///run/redis.sock":         {Network: "unix", Addr: "/run/redis.sock"},
		"unix:///run/a@b.sock?db=3":      {Network: "unix", Addr: "/run/a@b.sock", DB: new(3)},
		"unix://u:pw@/run/r.sock":        {Network: "unix", Addr: "/run/r.sock", Username: "u", Password: "pw"},
		"unix://redis.sock":              {Network: "unix", Addr: "redis.sock"},
		"unix:///with%20space?db=1":      {Network: "unix", Addr: "/with space", DB: new(1)},
		"embedded:data.json":             {Embedded: "data.json"},
		"embedded:/tmp/a b@c?d=e":        {Embedded: "/tmp/a b@c?d=e"},
		encodedURL:                       {Network: "tcp", Addr: "h:6379", Password: awkward},
		"redis://:" + "%00%ff" + "@h:80": {Network: "tcp", Addr: "h:80", Password: "\x00\xff"},
	} {
		if got, err := redisconn.ParseURL(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseURL(%q) = %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

// A password that means something else in each part of a URL.
const (
	awkward    = "p@s/s:w#%3D+ &é"
	encodedURL = "redis://:p%40s%2Fs%3Aw%23%253D%2B%20%26%C3%A9@h"
)

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                           "no scheme",
		"localhost:6379":             "no scheme",
		"user:secret@localhost":      "no scheme",
		"http://h":                   "unknown scheme",
		"redis://h:0":                "port",
		"redis://h:65536":            "port",
		"redis://h:secret":           "host:port",
		"redis://:secret":            "host:port",
		"redis://user:secret":        "host:port",
		"redis://::1:6379":           "host:port",
		"redis://[::1":               "host:port",
		"redis://h/secret":           "database",
		"redis://h/-1":               "database",
		"redis://h/1/2":              "database",
		"redis://h/1?db=2":           "two databases",
		"redis://h?dbase=secret":     `unknown parameter "dbase"`,
		"redis://h?password=secret":  `unknown parameter "password"`,
		"redis://h/1#secret":         "fragment",
		"redis://:" + awkward + "@h": "percent-encoded",
		"redis://:sec@ret@h":         "percent-encoded",
		"redis://:secret/@h":         "percent-encoded",
		"redis://:secret#@h":         "percent-encoded",
		"redis://:secret%zz@h":       "percent-encoded",
		"redis://:secreté@h":         "percent-encoded",
		"unix://":                    "no socket",
		"unix://u:secret@":           "no socket",
		"unix:///s?x=secret":         "unknown parameter",
		"embedded:":                  "no file",
		"embedded://data":            "no file",
	} {
		_, err := redisconn.ParseURL(raw)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseURL(%q): %v; want an error with %q", raw, err, want)
			continue
		}
		for _, secret := range []string{"secret", "sec@ret", "w#%3D"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("ParseURL(%q): the error tells the secret: %v", raw, err)
			}
		}
	}
}

func TestParseAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"h:7000": "h:7000", "h": "h:6379", "[::1]:7000": "[::1]:7000", "[::1]": "[::1]:6379", ":7000": "127.0.0.1:7000",
	} {
		got, err := redisconn.ParseAddr(addr)
		if want := (redisconn.Target{Network: "tcp", Addr: want}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseAddr(%q) = %+v, %v; want %+v", addr, got, err, want)
		}
	}
	for _, addr := range []string{"", "redis://h", "h/3", "bob@h", "::1", "h:0", "h:x", "/run/redis.sock", "h?db=1"} {
		if got, err := redisconn.ParseAddr(addr); err == nil {
			t.Errorf("ParseAddr(%q) = %+v; want an error", addr, got)
		}
	}
}
