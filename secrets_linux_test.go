// Secrets that are not given as arguments stay out of the list of processes.

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretsOutOfTheProcessList(t *testing.T) {
	t.Parallel()
	const secret = "p@s/s:w#%3D+ &é"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, way := range map[string]struct{ env, args []string }{
		"variable":        {env: []string{"KEYSPACECTL_PASSWORD=" + secret}},
		"shared variable": {env: []string{"REDISCLI_AUTH=" + secret}},
		"URL":             {env: []string{"KEYSPACECTL_URL=redis://:p%40s%2Fs%3Aw%23%253D%2B%20%26%C3%A9@HOST"}},
		"file":            {args: []string{"--password-file", file}},
		"command":         {args: []string{"--password-command", "cat " + file}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, hangs := hungServer(t, 0)
			host := strings.TrimPrefix(url, "redis://")
			cmd := exec.CommandContext(t.Context(), "keyspacectl", append([]string{"put", "k", "v", "--timeout", "1h"}, way.args...)...)
			cmd.Env = append(os.Environ(), "KEYSPACECTL_URL="+url, "KEYSPACECTL_PREFIX=app", "KEYSPACECTL_CONFIG="+os.DevNull)
			for _, variable := range way.env {
				cmd.Env = append(cmd.Env, strings.ReplaceAll(variable, "HOST", host))
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			<-hangs
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
			if err != nil || !strings.HasPrefix(string(line), "keyspacectl\x00put\x00") {
				t.Fatalf("the command line is %q, %v", line, err)
			}
			for _, shown := range []string{secret, "p%40s"} {
				if strings.Contains(string(line), shown) {
					t.Errorf("the command line shows the password: %q", line)
				}
			}
		})
	}
}
