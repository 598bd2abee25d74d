/**
 * Document of a sandbox (extensions/apps, sandbox proxy). A host that is a web page serves it at another origin, as
 * `text/html`, and gives its address to `showApp`. The sandbox shows one page in a frame without an origin, and passes
 * its messages on. A page that leaves its document is removed, because the next document could speak for it.
 */
export const sandboxPage = `<!doctype html>
<meta charset="utf-8">
<title>App</title>
<style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100% } iframe { display: block }</style>
<body>
<script>
const reserved = 'ui/notifications/sandbox-'
let frame
function show(html) {
  let loads = 0
  frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.srcdoc = html
  frame.addEventListener('load', () => {
    loads += 1
    if (loads > 1) frame.remove()
  })
  document.body.append(frame)
}
addEventListener('message', ({ source, data }) => {
  const isReserved = String(data?.method).startsWith(reserved)
  if (source === parent) {
    if (data?.method === reserved + 'resource-ready' && frame === undefined) show(String(data.params?.html))
    else if (!isReserved) frame?.contentWindow?.postMessage(data, '*')
  } else if (frame?.contentWindow === source && source !== null && !isReserved) parent.postMessage(data, '*')
})
parent.postMessage({ jsonrpc: '2.0', method: reserved + 'proxy-ready', params: {} }, '*')
</script>
`
