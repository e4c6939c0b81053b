// INFO of the embedded server: the fields by which tools judge a server.

package embedded

import (
	"fmt"
	"slices"
	"strings"
)

// redisVersion is the version that miniredis claims in HELLO.
const redisVersion = "8.4.0"

// info returns the sections asked for, all of them when none is named. The
// server keeps all data in memory, evicts none and has no replicas.
func (s *Server) info(names []string) string {
	sections := []struct{ name, fields string }{
		{"Server", "redis_version:" + redisVersion + "\r\nredis_mode:standalone\r\nserver_name:embedded\r\nrun_id:" + s.runID + "\r\n"},
		{"Clients", fmt.Sprintf("connected_clients:%d\r\n", s.redis.ClientsLen())},
		{"Memory", "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n"},
		{"Persistence", "loading:0\r\naof_enabled:0\r\n"},
		{"Stats", fmt.Sprintf("total_connections_received:%d\r\ntotal_commands_processed:%d\r\n",
			s.redis.TotalConnections(), s.redis.TotalCommands())},
		{"Replication", "role:master\r\nconnected_slaves:0\r\n"},
		{"Cluster", "cluster_enabled:0\r\n"},
		{"Keyspace", s.keyspace()},
	}
	var texts []string
	for _, section := range sections {
		wanted := len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
			switch strings.ToLower(name) {
			case "all", "default", "everything", strings.ToLower(section.name):
				return true
			}
			return false
		})
		if wanted {
			texts = append(texts, "# "+section.name+"\r\n"+section.fields)
		}
	}
	return strings.Join(texts, "\r\n")
}

// keyspace counts the keys of each database that has any.
func (s *Server) keyspace() string {
	var lines strings.Builder
	for i := range databases {
		if keys := s.mini.DB(i).Keys(); len(keys) > 0 {
			fmt.Fprintf(&lines, "db%d:keys=%d\r\n", i, len(keys))
		}
	}
	return lines.String()
}
