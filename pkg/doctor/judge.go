package doctor

// From facts to results: the checks in their order, and the results of several
// servers as one list.

import "fmt"

// finding is what a check says of one server.
type finding struct {
	status               Status
	found, means, advice string
}

func ok(format string, args ...any) finding {
	return finding{status: OK, found: fmt.Sprintf(format, args...)}
}

func skip(reason error) finding { return finding{status: Skipped, found: reason.Error()} }

func warn(found, means, advice string) finding { return finding{Warning, found, means, advice} }

func fail(found, means, advice string) finding { return finding{Failed, found, means, advice} }

// connection is the check that only a server fails which cannot be reached.
const connection = "connection"

// check is one check of a server.
type check struct {
	id    string
	store Store
	judge func(*facts, Options) finding
}

// checks are all of them but for the rights, in the order of the results.
func checks() []check {
	return []check{
		{"server", All, judgeServer},
		{"protocol", All, judgeProtocol},
		{"role", All, judgeRole},
		{"cluster", All, judgeCluster},
		{"replicas", All, judgeReplicas},
		{"persistence", Warm, judgePersistence},
		{"saving", All, judgeSaving},
		{"memory", All, judgeMemory},
		{"eviction", All, judgeEviction},
		{"bulk-length", Blob, judgeBulkLength},
		{"busy-threshold", All, judgeBusyThreshold},
		{"scripting", All, judgeScripting},
		{"script-cache", All, judgeScriptCache},
		{"clock", All, judgeClock},
		{"latency", All, judgeLatency},
	}
}

// judge returns the results of one server.
func judge(f *facts, o Options) []Result {
	if f.unreachable != nil {
		return []Result{{
			Check: connection, Node: f.node, Status: Failed, Store: All, Found: f.unreachable.Error(),
			Means: "keys in its slots can be neither read nor written", Advice: "bring it back, or promote a replica of it",
		}}
	}
	var results []Result
	for _, c := range checks() {
		if o.wants(c.store) {
			results = append(results, c.judge(f, o).result(c.id, f.node, c.store))
		}
	}
	for _, g := range Groups() {
		if o.wants(g.Store) {
			r := f.rights.judge(g, o).result("acl-"+g.Name, f.node, g.Store)
			r.Needs = o.needs(g)
			results = append(results, r)
		}
	}
	return results
}

func (f finding) result(id, node string, store Store) Result {
	return Result{Check: id, Node: node, Status: f.status, Store: store, Found: f.found, Means: f.means, Advice: f.advice}
}

// merge returns the results of several servers check by check. What all of
// them say alike is one result without a node.
func merge(nodes []*facts, judge func(*facts) []Result) []Result {
	var order []string
	by := map[string][]Result{}
	reached := 0
	for _, f := range nodes {
		if f.unreachable == nil {
			reached++
		}
		for _, r := range judge(f) {
			if by[r.Check] == nil {
				order = append(order, r.Check)
			}
			by[r.Check] = append(by[r.Check], r)
		}
	}
	var merged []Result
	for _, id := range order {
		if same := by[id]; id != connection && len(same) == reached && alike(same) {
			same[0].Node = ""
			by[id] = same[:1]
		}
		merged = append(merged, by[id]...)
	}
	return merged
}

// alike tells whether results differ in nothing but their node.
func alike(results []Result) bool {
	for _, r := range results {
		r.Node = results[0].Node
		if r != results[0] {
			return false
		}
	}
	return true
}
