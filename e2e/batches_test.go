package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// withMachines returns env with Slurm on this machine, and ssh to it by the names node1 and node2, for
// sbatch and GNU parallel.
func withMachines(t *testing.T, env []string) []string {
	t.Helper()
	for _, program := range []string{"sbatch", "slurmctld", "slurmd", "munged", "sshd", "ssh-keygen", "parallel"} {
		if _, err := exec.LookPath(program); err != nil {
			need(t, program)
		}
	}
	dir, err := os.MkdirTemp("", "spoor-machines-*") // sockets need a short name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // as munged wants it
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		testfile.Check(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	ports := freePorts(t, 3)
	key := write("munge.key", strings.Repeat("spoor", 100))
	socket := filepath.Join(dir, "munge.socket")
	conf := write("slurm.conf", fmt.Sprintf(`ClusterName=spoor
SlurmctldHost=%[1]s(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
CredType=cred/munge
SlurmUser=%[3]s
SlurmdUser=%[3]s
SlurmctldPort=%[4]d
SlurmdPort=%[5]d
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, dir, me.Username, ports[0], ports[1]))
	for _, name := range []string{"state", "spool"} {
		testfile.Check(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	identity := filepath.Join(dir, "id")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sshConf := write("ssh.conf", fmt.Sprintf("Host node1 node2\n HostName 127.0.0.1\n Port %d\n IdentityFile %s\n StrictHostKeyChecking no\n UserKnownHostsFile %[3]s/known\n LogLevel ERROR\n", ports[2], identity, dir))
	env = append(env, "SLURM_CONF="+conf, "PARALLEL_SSH=ssh -F "+sshConf, "PARALLEL_HOME="+dir)
	start := func(name string, args ...string) {
		t.Helper()
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, args...) // sshd wants its absolute name
		cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
			log.Close()
			if t.Failed() {
				b, _ := os.ReadFile(log.Name())
				t.Logf("%s: %s", name, b)
			}
		})
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	start("munged", "--force", "--foreground", "--key-file="+key, "--socket="+socket, "--pid-file="+dir+"/munged.pid", "--log-file="+dir+"/munged.out", "--seed-file="+dir+"/munged.seed")
	start("sshd", "-D", "-e", "-f", "/dev/null", "-p", fmt.Sprint(ports[2]), "-h", identity, "-o", "ListenAddress=127.0.0.1", "-o", "AuthorizedKeysFile="+identity+".pub", "-o", "StrictModes=no", "-o", "PidFile=none", "-o", "PermitUserEnvironment=no")
	await(t, func() error { _, err := os.Stat(socket); return err })
	start("slurmctld", "-D")
	start("slurmd", "-D")
	await(t, func() error {
		cmd := exec.Command("sinfo", "-h", "-o", "%t")
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err == nil && strings.TrimSpace(string(out)) != "idle" {
			err = fmt.Errorf("Slurm is not ready: %s", out)
		}
		return err
	})
	return env
}

// freePorts returns unused ports. They are outside the range of ephemeral ports, so no other process
// gets them while a server is down.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for tries := 0; len(ports) < n; tries++ {
		port := 20000 + rand.IntN(12000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil && tries < 1000 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, port)
	}
	return ports
}

// await calls f until it succeeds.
func await(t *testing.T, f func() error) {
	t.Helper()
	begun := time.Now()
	for err := f(); err != nil; err = f() {
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
