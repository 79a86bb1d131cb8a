// Opened from a disk, a page may start no worker, and the search runs in one. There, a worker is a
// frame nobody sees. Elsewhere this does nothing. Its name tells Material's offline plugin that it
// needs no such script from another host.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      this.ready = new Promise((resolve) => { script.onload = resolve; });
      frame.contentDocument.body.append(script);
    }

    async postMessage(data) {
      await this.ready;
      this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }
  };
}
