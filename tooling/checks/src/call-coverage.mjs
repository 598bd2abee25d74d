import { request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { register } from 'node:module'
import { pathToFileURL } from 'node:url'

// A program that `measureCalls` starts with the folder of a workspace. It serves two tools over node:http from the
// sources. It prints the files of which a warm request called at least one function, as JSON.

/**
 * @typedef {{ resultType?: string, requestState?: string, isError?: boolean }} CallResult
 * @typedef {{ name: string, inputResponses?: object, requestState?: string | undefined }} CallParams
 */

/** The number of requests before the measured one, which fill caches and run one-time initialization. */
const warmUpRequests = 20

/** The number of measured requests. A file counts if each of them calls it. */
const samples = 5

const packages = new URL('packages/', `${pathToFileURL(process.argv[2] ?? '.').href}/`).href
register('./source-loader.mjs', import.meta.url)
const { createServer, tool } = await import(`${packages}server/src/index.ts`)
const { serveHttp } = await import(`${packages}transport-http/src/node.ts`)
const { randomKey, sealedState } = await import(`${packages}state-codec/src/node.ts`)
const { metaKeys, protocolVersion } = await import(`${packages}schema/src/index.ts`)

const form = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] }
const tools = [
  tool('echo', { description: 'Repeats a text', input: form, run: repeat }),
  tool('ask', {
    description: 'Asks for a color',
    run: ask,
  }),
]
const state = sealedState({ keys: [randomKey()] })
const host = await serveHttp(createServer({ name: 'measured', version: '1.0.0', tools, state, strictReplay: false }), {
  port: 0,
})
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const call = await filesCalledBy(() => post({ name: 'echo', arguments: { color: 'red' } }))
const secondRound = await filesCalledBy(answerQuestion, () => post({ name: 'ask' }))
process.stdout.write(JSON.stringify({ call, secondRound }))
await host.close()
session.disconnect()

/** @param {{ color: string }} input */
function repeat({ color }) {
  return color
}

/**
 * @param {unknown} _
 * @param {{ elicit: (key: string, question: object) => Promise<{ color: string }> }} ctx
 */
async function ask(_, ctx) {
  const { color } = await ctx.elicit('color', { message: 'Which color?', schema: form })
  return color
}

/**
 * Lists the files that a warm request calls. V8 counts the calls of a function since the last reading.
 * @param {(before: CallResult) => Promise<CallResult>} send
 * @param {() => Promise<CallResult>} prepare Sends the request before, which is not measured.
 * @returns {Promise<string[]>}
 */
async function filesCalledBy(send, prepare = async () => ({})) {
  for (let sent = 0; sent < warmUpRequests; sent += 1) await send(await prepare())
  let files = await sampleFiles(send, prepare)
  // A timer of the server may run during one request, but not during each.
  for (let sample = 1; sample < samples; sample += 1) {
    const others = new Set(await sampleFiles(send, prepare))
    files = files.filter((file) => others.has(file))
  }
  return files
}

/**
 * @param {(before: CallResult) => Promise<CallResult>} send
 * @param {() => Promise<CallResult>} prepare
 * @returns {Promise<string[]>}
 */
async function sampleFiles(send, prepare) {
  const before = await prepare()
  await session.post('Profiler.takePreciseCoverage')
  const result = await send(before)
  const { result: scripts } = await session.post('Profiler.takePreciseCoverage')
  if (result.resultType !== 'complete' || result.isError) throw new Error(`the call failed: ${JSON.stringify(result)}`)
  return scripts
    .filter(({ url }) => url.startsWith(packages))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url.slice(packages.length))
    .toSorted()
}

/** @param {CallResult} asked */
function answerQuestion({ requestState }) {
  const color = { action: 'accept', content: { color: 'red' } }
  return post({ name: 'ask', inputResponses: { color }, requestState })
}

/**
 * @param {CallParams & { arguments?: object }} params
 * @returns {Promise<CallResult>}
 */
function post(params) {
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: { name: 'measure', version: '1.0.0' },
    [metaKeys.clientCapabilities]: { elicitation: {} },
  }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
    'mcp-method': 'tools/call',
    'mcp-name': params.name,
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } })
  return new Promise((resolve, reject) => {
    const sent = request(host.url, { method: 'POST', headers }, (response) => {
      /** @type {Buffer[]} */
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const { result } = JSON.parse(text)
        if (result === undefined) reject(new Error(`the server answered ${text}`))
        else resolve(result)
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
