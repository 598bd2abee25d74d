import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { appsCapabilities, sandboxPage } from '@x/apps/host'
import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { readServersFile } from '@x/gateway/node'
import { sealedState } from '@x/server'

const host = { name: 'my-web-host', version: '1.0.0' }
const port = Number(process.env.PORT ?? 8080)
const upstreams = await readServersFile(process.argv[2] ?? 'web.json', { name: host.name })
const server = gateway({ ...host, upstreams, state: sealedState({ keys: [process.env.STATE_KEY] }) })
const client = createClient(server, { ...host, capabilities: { ...appsCapabilities, elicitation: { form: {} } } })

// The calls that wait for an answer. They survive a restart of this program.
const pendingFile = 'pending.json'
const pending = new Map(existsSync(pendingFile) ? JSON.parse(readFileSync(pendingFile, 'utf8')) : [])

const functions = {
  listTools: () => client.listTools(),
  readResource: (uri) => client.readResource(uri),
  callTool: async (name, args) => keep(await client.manualRounds.callTool(name, args)),
  listPending: () => Array.from(pending, view),
  async resume(id, answers) {
    const call = pending.get(id)
    if (call === undefined) throw new Error('This question is no longer open')
    // No second answer while the call runs. A call that fails can be answered again, unless the user declined.
    pending.delete(id)
    try {
      return keep(await client.manualRounds.resume(call, answers))
    } catch (error) {
      if (Object.values(answers).some(({ action }) => action === 'accept')) pending.set(id, call)
      throw error
    } finally {
      writePending()
    }
  },
}

// One program at two origins: the page is at localhost, and the sandbox of Apps at 127.0.0.1.
const [origin, sandbox] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
const policy = `default-src 'none'; script-src 'self'; connect-src 'self'; frame-src ${sandbox}`
const files = new Map([
  [`${origin}/`, ['text/html; charset=utf-8', readFileSync(new URL('page.html', import.meta.url))]],
  [`${origin}/page.js`, ['text/javascript', readFileSync(new URL('page.js', import.meta.url))]],
])

const http = createServer(async (request, response) => {
  const url = `http://${request.headers.host}${request.url}`
  if (request.method === 'POST') return await callFunction(request, response)
  if (url === `${sandbox}/`) return response.setHeader('content-type', 'text/html').end(sandboxPage)
  const [type, file] = files.get(url) ?? []
  if (file === undefined) return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(file)
})
http.listen(port, '127.0.0.1', () => console.log(`Open ${origin}/`))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)

/** Calls one of the functions for our page. Rejects all other pages, or they could call tools in the user's name. */
async function callFunction(request, response) {
  const name = request.url.slice(1)
  if (request.headers.origin !== origin || !Object.hasOwn(functions, name)) return response.writeHead(403).end()
  try {
    response.end(JSON.stringify(await functions[name](...(await json(request)))))
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ message: error.message }))
  }
}

/** Returns a round for the page. The state of a call that waits is not for the page. */
function keep(round) {
  if (round.status === 'complete') return round
  const id = randomUUID()
  pending.set(id, round.pendingCall)
  writePending()
  return view([id, round.pendingCall])
}

function view([id, { params, requests }]) {
  return { status: 'input_required', id, params, requests }
}

function writePending() {
  writeFileSync(pendingFile, JSON.stringify([...pending]), { mode: 0o600 })
}

async function stop() {
  http.close()
  await server.close()
  http.closeAllConnections()
}
