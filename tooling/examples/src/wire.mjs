const shownHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id']
/** Members whose values are random or depend on the time. */
const randomMembers = new Set(['requestState', 'state', 'sessionId', 'expiresAt', 'dev.x/idempotencyKey'])
const lineWidth = 96

/** Sends a request, and prints it with its response. It replaces `fetch`. */
export async function printingFetch(url, options) {
  const request = new Request(url, options)
  console.log(`→ ${request.method} ${new URL(url).pathname}`)
  printHeaders(request.headers)
  if (request.method === 'POST') printMessage(await request.clone().text())
  const response = await fetch(request)
  console.log(`← ${response.status} ${response.headers.get('content-type') ?? ''}`.trimEnd())
  printHeaders(response.headers)
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (!isStream) printMessage(await response.clone().text())
  return response
}

/** Reads and prints the messages of an event stream. Yields each with the id of its event. */
export async function* readEvents(response) {
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop()
    for (const event of events) {
      const [, id] = /^id: (.*)$/m.exec(event) ?? []
      const [, data = ''] = /^data: (.*)$/m.exec(event) ?? []
      if (data === '') continue
      console.log('← event')
      printMessage(data)
      yield { id, message: JSON.parse(data) }
    }
  }
}

function printHeaders(headers) {
  for (const name of shownHeaders) {
    const value = headers.get(name)
    if (value !== null) console.log(`  ${name}: ${name.endsWith('-id') ? '…' : value}`)
  }
}

function printMessage(text) {
  if (text !== '') console.log(`  ${formatJson(JSON.parse(text, maskRandom), '  ')}`)
}

function maskRandom(member, value) {
  const isRandom = randomMembers.has(member) || member === 'id'
  return isRandom && typeof value === 'string' ? '…' : value
}

/** Formats a value as JSON. A short array or object is on one line. */
function formatJson(value, indent) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => formatJson(item, inner))
    : Object.entries(value).map(([member, item]) => `${JSON.stringify(member)}: ${formatJson(item, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (parts.length === 0) return open + close
  const line = `${open} ${parts.join(', ')} ${close}`
  if (indent.length + line.length <= lineWidth && !line.includes('\n')) return line
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`
}
