import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { createClient } from '@x/client'
import { readForm } from '@x/client/forms'
import { anthropicTools } from '@x/client/models'
import { gateway } from '@x/gateway'
import { readServersFile } from '@x/gateway/node'

const host = { name: 'my-host', version: '1.0.0' }
// All servers of the user, as one server in this process.
const upstreams = await readServersFile(process.argv[2] ?? 'mcp.json', { name: host.name })
const terminal = createInterface({ input: process.stdin, output: process.stdout })
const signal = stopOnSignals()
let lastAnswer = Promise.resolve()

const server = gateway({
  ...host,
  upstreams,
  // The terminal shows states alone.
  log: ({ level, name = '', message }) => appendFileSync('host.log', `${level} ${name} ${message}\n`),
})
// #region states
for (const [name, upstream] of server.upstreams)
  upstream.onStateChange(({ status, loginUrl, reason }) => {
    if (status === 'closed') return
    const details = loginUrl ?? reason?.message ?? ''
    console.error(`[${name}] ${status} ${details.replaceAll(/\s+/g, ' ')}`)
  })
// #endregion
const client = createClient(server, { ...host, elicit: askUser })

try {
  for (;;) await answer(await terminal.question('> ', { signal }))
} catch (error) {
  if (!signal.aborted) throw error
} finally {
  terminal.close()
  await server.close()
}

async function answer(question) {
  const messages = [{ role: 'user', content: question }]
  for (let results; results?.length !== 0; ) {
    const tools = await anthropicTools(client)
    const content = model(messages, tools.definitions)
    for (const { text } of content) if (text !== undefined) console.log(text)
    results = await tools.run(content, { signal })
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
}

/** In place of a model: "CALL tool {json}" calls a tool, and the result is the answer. Anything else lists the tools. */
function model(messages, tools) {
  const { content } = messages.at(-1)
  if (typeof content !== 'string') return [{ type: 'text', text: JSON.stringify(content[0].content) }]
  const [, name, input] = /^CALL (\S+) ?(.*)$/.exec(content) ?? []
  if (name === undefined) return [{ type: 'text', text: tools.map((tool) => tool.name).join(' ') }]
  return [{ type: 'tool_use', id: 'call-1', name, input: JSON.parse(input || '{}') }]
}

/** Asks the user what a server wants to know. Tools that were called at once ask one after another. */
function askUser(question, context) {
  const answer = lastAnswer.then(() => fillForm(question, context))
  lastAnswer = answer.catch(() => {})
  return answer
}

async function fillForm({ message, requestedSchema }, context) {
  context.signal.throwIfAborted()
  console.log(`${context.target} asks: ${message}`)
  const content = {}
  for (const { name, label } of readForm(requestedSchema).fields)
    content[name] = await terminal.question(`${label}: `, { signal: context.signal })
  return { action: 'accept', content }
}

function stopOnSignals() {
  const controller = new AbortController()
  const stop = () => controller.abort()
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, stop)
  terminal.once('SIGINT', stop).once('close', stop)
  return controller.signal
}
