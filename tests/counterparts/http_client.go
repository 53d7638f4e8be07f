// net/http of Go as a client: http_client URL HTTPS_URL CA_FILE. Says "ok" at its end.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func check(holds bool, what string, more ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, what, fmt.Sprint(more...))
		os.Exit(1)
	}
}

// Sends a request and reads all of the answer.
func ask(client *http.Client, request *http.Request) (*http.Response, string) {
	response, err := client.Do(request)
	check(err == nil, "asking:", err)
	body, err := io.ReadAll(response.Body)
	check(err == nil, "reading:", err)
	response.Body.Close()
	return response, string(body)
}

func request(method, url string, body io.Reader) *http.Request {
	request, err := http.NewRequest(method, url, body)
	check(err == nil, "a request:", err)
	return request
}

// Hides how long it is.
type stream struct{ io.Reader }

// Remembers whether it was read.
type watched struct {
	io.Reader
	wasRead atomic.Bool
}

func (body *watched) Read(buf []byte) (int, error) {
	body.wasRead.Store(true)
	return body.Reader.Read(buf)
}

func keepAlive(client *http.Client, url string) {
	var opened atomic.Int32
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if !got.Reused {
			opened.Add(1)
		}
	}}
	for i := 0; i < 100; i++ {
		traced := request("GET", url+"/hello", nil)
		traced = traced.WithContext(httptrace.WithClientTrace(traced.Context(), trace))
		response, body := ask(client, traced)
		check(response.StatusCode == 200 && body == "hello, /hello\n", "keep-alive:", body)
		check(response.Proto == "HTTP/1.1", "version:", response.Proto)
	}
	check(opened.Load() <= 1, "connections:", opened.Load())
}

func manyAtOnce(client *http.Client, url string) {
	var all sync.WaitGroup
	for i := 0; i < 32; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 25; j++ {
				text := strings.Repeat(fmt.Sprint(i, j), 100)
				_, body := ask(client, request("POST", url+"/echo", strings.NewReader(text)))
				check(body == text, "at once:", body)
			}
		}()
	}
	all.Wait()
}

func chunks(client *http.Client, url string) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 65536)
	upload := request("POST", url+"/echo", stream{bytes.NewReader(large)})
	upload.Trailer = http.Header{"X-Sum": {"1"}}
	response, body := ask(client, upload)
	check(response.ContentLength == -1, "it is sent back as it comes:", response.ContentLength)
	check(body == string(large), "chunks:", len(body))
}

// The client waits for a minute for the word to go on.
func expectContinue(client *http.Client, url string) {
	var told atomic.Bool
	body := &watched{Reader: strings.NewReader("a body")}
	upload := request("POST", url+"/echo", body)
	upload.Header.Set("Expect", "100-continue")
	upload = upload.WithContext(httptrace.WithClientTrace(upload.Context(),
		&httptrace.ClientTrace{Got100Continue: func() { told.Store(true) }}))
	response, text := ask(client, upload)
	check(response.StatusCode == 200 && text == "a body" && told.Load(), "100-continue:", text)

	unwanted := &watched{Reader: strings.NewReader("a body")}
	refused := request("POST", url+"/refuse", unwanted)
	refused.Header.Set("Expect", "100-continue")
	response, _ = ask(client, refused)
	check(response.StatusCode == 413 && !unwanted.wasRead.Load(), "refused:", response.Status)
}

func parts(client *http.Client, url string) {
	head, body := ask(client, request("HEAD", url+"/files/large", nil))
	check(head.StatusCode == 200 && head.ContentLength == 1<<20 && body == "", "HEAD:", head)
	ranged := request("GET", url+"/files/large", nil)
	ranged.Header.Set("Range", "bytes=1000-1999")
	part, body := ask(client, ranged)
	check(part.StatusCode == 206 && len(body) == 1000, "a range:", part.Status)
	redirected, body := ask(client, request("GET", url+"/moved", nil))
	check(redirected.StatusCode == 200 && body == "hello, /hello\n", "redirected:", body)
}

// Who gives up leaves the server as it was.
func givingUp(client *http.Client, url string) {
	for i := 0; i < 20; i++ {
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		_, err := client.Do(request("GET", url+"/never", nil).WithContext(limited))
		check(err != nil, "an answer that never comes")
		cancel()
	}
	response, _ := ask(client, request("GET", url+"/hello", nil))
	check(response.StatusCode == 200, "after giving up:", response.Status)
}

func main() {
	authority, err := os.ReadFile(os.Args[3])
	check(err == nil, "the authority:", err)
	trusted := x509.NewCertPool()
	check(trusted.AppendCertsFromPEM(authority), "the authority's certificate")
	for _, url := range os.Args[1:3] {
		client := &http.Client{Transport: &http.Transport{
			ExpectContinueTimeout: time.Minute,
			ForceAttemptHTTP2:     true,
			TLSClientConfig:       &tls.Config{RootCAs: trusted, ServerName: "localhost"},
		}}
		keepAlive(client, url)
		manyAtOnce(client, url)
		chunks(client, url)
		expectContinue(client, url)
		parts(client, url)
		givingUp(client, url)
		client.CloseIdleConnections()
	}
	fmt.Println("ok")
}
