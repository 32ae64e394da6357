// Go's net/http, as client.mjs does it: 50 goroutines, each sends its next request when it has read the last response.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type job struct {
	Origin, Traffic string
	Lanes, Length   int
	Warmup, Seconds float64
}

const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJiZW5jaCIsInNjb3BlIjoicmVhZCJ9."

func main() {
	var j job
	must(json.Unmarshal([]byte(os.Args[1]), &j))
	client := &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: j.Lanes, MaxIdleConnsPerHost: j.Lanes, DisableCompression: true,
	}}
	var count, isOver int64
	ids := rand.New(rand.NewSource(time.Now().UnixNano())).Int63n(1 << 40)
	var lanes sync.WaitGroup
	for i := 0; i < j.Lanes; i++ {
		lanes.Add(1)
		go func() {
			defer lanes.Done()
			for atomic.LoadInt64(&isOver) == 0 {
				send(client, j, &ids)
				atomic.AddInt64(&count, 1)
			}
		}()
	}
	sleep(j.Warmup)
	fromCount, fromTime, fromCpu := atomic.LoadInt64(&count), time.Now(), cpuTime()
	sleep(j.Seconds)
	answered := float64(atomic.LoadInt64(&count) - fromCount)
	elapsed, cpu := time.Since(fromTime).Seconds(), cpuTime()-fromCpu
	atomic.StoreInt64(&isOver, 1)
	lanes.Wait()
	fmt.Printf("{\"rps\":%f,\"cpu\":%f}\n", answered/elapsed, cpu*1e6/answered)
}

func send(client *http.Client, j job, ids *int64) {
	request := newRequest(j, ids)
	response, err := client.Do(request)
	must(err)
	defer response.Body.Close()
	var text string
	if j.Traffic == "real" {
		var answer struct {
			Id, Path, Text string
			List           []int
		}
		must(json.NewDecoder(response.Body).Decode(&answer))
		// Up to the end, so that the connection can be used again.
		io.Copy(io.Discard, response.Body)
		text = answer.Text
	} else {
		bytes, err := io.ReadAll(response.Body)
		must(err)
		text = string(bytes)
	}
	if response.StatusCode != 200 || len(text) != j.Length {
		panic(fmt.Sprintf("status %d, length %d", response.StatusCode, len(text)))
	}
}

func newRequest(j job, ids *int64) *http.Request {
	path := "/small"
	fields := http.Header{"User-Agent": {"bench"}, "Accept": {"*/*"}}
	if j.Traffic == "real" {
		count := atomic.AddInt64(ids, 1)
		id := fmt.Sprintf("%016x", count)
		path = fmt.Sprintf("/api/tenants/%d/orders/%s?expand=items", count%10007, id)
		fields = http.Header{
			"User-Agent":      {"bench/1.0"},
			"Accept":          {"application/json"},
			"Accept-Language": {"en"},
			"Authorization":   {"Bearer " + token + id},
			"X-Request-Id":    {id[:8] + "-" + id[8:12] + "-4000-8000-" + id[4:]},
			"Traceparent":     {"00-" + id + id + "-" + id + "-01"},
			"X-Tenant":        {fmt.Sprintf("tenant-%d", count%10007)},
		}
	}
	request, err := http.NewRequest("GET", j.Origin+path, nil)
	must(err)
	request.Header = fields
	return request
}

func cpuTime() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func sleep(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
