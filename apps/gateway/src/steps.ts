import { setTimeout } from 'node:timers/promises'
import type { WorkItemsProcess } from '@apps/ado-work-items/work-items-process'
import { type Client, isClientError } from '@x/client'
import type { PinFile } from '@x/gateway/node'
import { isJsonObject, type WireError } from '@x/schema'
import type { GatewayFleet } from './gateway-fleet.ts'
import type { Host, Visit } from './host.ts'
import type { OrdersApi } from './orders-api.ts'
import { laterEverythingProgram } from './programs.ts'

/** The dependencies of the steps. */
export interface WalkThroughScope {
  readonly host: Host
  readonly workItems: Pick<WorkItemsProcess, 'kill' | 'start'>
  readonly fleet: Pick<GatewayFleet, 'restart'>
  readonly orders: Pick<OrdersApi, 'deleted'>
  /** The accepted definitions of tools. */
  readonly pins: Pick<PinFile, 'remove'>
  /** The path of a file in the folder of the upstream `files`. */
  readonly note: string
  readonly signal: AbortSignal
}

/** One step of the walk-through. */
export interface Step {
  readonly title: string
  /** The requests of the step. */
  readonly ask: string
  /** Resolves to the lines that were seen. Rejects if the step did not go as expected. */
  readonly run: (scope: WalkThroughScope) => Promise<readonly string[]>
}

export const upstreams = ['work-items', 'everything', 'files', 'orders']
/** Milliseconds until an upstream has to serve its tools, on a busy machine. */
const patienceMs = 60_000
const pollMs = 250

/** The steps, in order. */
export const steps: readonly Step[] = [
  {
    title: 'One list of the tools of three servers and an HTTP API',
    ask: 'tools/list at each instance',
    run: listTools,
  },
  {
    title: 'An older server asks through one instance, and the answer arrives at the other',
    ask: 'tools/call everything__trigger-elicitation-request, each request at the other instance',
    run: answerElsewhere,
  },
  {
    title: 'The user confirms a DELETE of an HTTP API, and the answer arrives at the other instance',
    ask: 'tools/call orders__deleteOrder, each request at the other instance',
    run: confirmDelete,
  },
  {
    title: 'A server is killed on purpose, and started again',
    ask: 'tools/call at all three servers: while work-items is killed, and after its return',
    run: loseUpstream,
  },
  {
    title: 'A tool whose description has changed is withheld until it is accepted',
    ask: 'tools/list and tools/call everything__echo, after the instances were restarted',
    run: changeTool,
  },
]

async function listTools({ host, signal }: WalkThroughScope): Promise<readonly string[]> {
  const [names = [], others = []] = await atEach(host, async (client) => [...(await listAll(client, signal)).keys()])
  check(names.join() === others.join(), 'The instances have different tools')
  return upstreams.map((upstream) => {
    const own = names.filter((name) => name.startsWith(`${upstream}__`))
    return `${upstream}: ${own.length} ${own.length === 1 ? 'tool' : 'tools'}, such as ${own[0]}`
  })
}

async function answerElsewhere({ host }: WalkThroughScope): Promise<readonly string[]> {
  const before = host.visits.length
  const text = textOf(await host.client.callTool('everything__trigger-elicitation-request'))
  const visits = host.visits.slice(before).filter(({ method }) => method === 'tools/call')
  const [asked, answered] = visits
  const [question = ''] = host.questions
  check(asked?.outcome === 'question' && answered !== undefined, 'No question was asked')
  check(answered?.instance !== asked?.instance, 'The same instance received the answer')
  check(text.includes('Ada'), `The answer is not in the result: ${text}`)
  return [
    ...visits.map((visit) => describeVisit(visit, question)),
    `result: ${text.split('\n').find((line) => line.includes('Ada'))}`,
  ]
}

async function confirmDelete({ host, orders }: WalkThroughScope): Promise<readonly string[]> {
  const before = host.visits.length
  const text = textOf(await host.client.callTool('orders__deleteOrder', { id: 7 }))
  const visits = host.visits.slice(before).filter(({ method }) => method === 'tools/call')
  check(visits[0]?.outcome === 'question', 'The user was not asked')
  check(visits[1]?.instance !== visits[0]?.instance, 'The same instance received the answer')
  check(orders.deleted.join() === '7', `The API deleted ${orders.deleted.join(', ') || 'nothing'}`)
  const question = host.questions.at(-1)?.split('\n').join(': ') ?? ''
  return [...visits.map((visit) => describeVisit(visit, question)), `result: ${text}`]
}

function describeVisit({ instance, outcome }: Visit, question: string): string {
  return `instance ${instance}: ${outcome}${outcome === 'question' ? `, "${question}"` : ''}`
}

async function loseUpstream({ host, workItems, note, signal }: WalkThroughScope): Promise<readonly string[]> {
  await workItems.kill()
  const failures = await atEach(host, (client) => callFailure(client, 'work-items__list_work_items'))
  for (const { data, message } of failures)
    check(isJsonObject(data) && data['upstream'] === 'work-items', `The error does not name work-items: ${message}`)
  const others = await atEach(host, (client) => callOthers(client, note))
  await workItems.start()
  await atEach(host, (client) => untilTrue(() => isServed(client), signal))
  return [
    ...failures.map(({ message }, index) => `instance ${index + 1}: work-items fails: ${message}`),
    ...others.map((texts, index) => `instance ${index + 1}: the others succeed: ${texts.join(', ')}`),
    'work-items was started again, and both instances serve it',
  ]
}

/** Calls the upstreams that were not killed. */
async function callOthers(client: Client, note: string): Promise<readonly string[]> {
  const echo = await client.callTool('everything__echo', { message: 'hello' })
  const file = await client.callTool('files__read_text_file', { path: note })
  const texts = [textOf(echo), textOf(file)].map((text) => text.trim())
  check(texts.join() === 'Echo: hello,The release is on Thursday.', `Other results: ${texts.join()}`)
  return texts
}

async function isServed(client: Client): Promise<boolean> {
  const result = await client.callTool('work-items__list_work_items', { top: 1 }).catch(() => undefined)
  return result !== undefined && result.isError !== true
}

async function changeTool({ host, fleet, pins, signal }: WalkThroughScope): Promise<readonly string[]> {
  await fleet.restart({ EVERYTHING_PROGRAM: laterEverythingProgram })
  const lists = await atEach(host, (client) => listAll(client, signal))
  for (const list of lists) check(!list.has('everything__echo'), 'The changed tool is listed')
  const failures = await atEach(host, (client) => callFailure(client, 'everything__echo'))
  for (const { message } of failures)
    check(message.startsWith('Unknown tool'), `The changed tool is called: ${message}`)
  check(await pins.remove('everything', 'echo'), 'The tool has no accepted definition')
  const accepted = await atEach(host, (client) => listAll(client, signal))
  for (const list of accepted) check(list.has('everything__echo'), 'The accepted tool is not listed')
  const results = await atEach(host, (client) => client.callTool('everything__echo', { message: 'accepted' }))
  return [
    'both instances were restarted, and started a later version of the server',
    `withheld: everything__echo is not listed, and a call fails: ${failures[0]?.message}`,
    `accepted: ${accepted[0]?.get('everything__echo')}`,
    ...results.map((result, index) => `instance ${index + 1}: ${textOf(result)}`),
  ]
}

/** Does the same at each instance, in turn: two processes that change the file of pins at once may lose a change. */
async function atEach<T>({ clients }: Host, run: (client: Client) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (const client of clients) results.push(await run(client))
  return results
}

/** Lists the tools with their descriptions, again until tools of every upstream are among them. */
async function listAll(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  let list: ReadonlyMap<string, string> = new Map()
  await untilTrue(async () => {
    list = new Map((await client.listTools()).map(({ name, description = '' }) => [name, description]))
    return upstreams.every((upstream) => [...list.keys()].some((name) => name.startsWith(`${upstream}__`)))
  }, signal)
  return list
}

async function untilTrue(read: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await read())) {
    check(performance.now() < deadline, `An upstream was not served within ${patienceMs} ms`)
    await setTimeout(pollMs, undefined, { signal })
  }
}

/** Calls a tool that has to fail, and returns the error of the gateway. */
async function callFailure(client: Client, tool: string): Promise<WireError> {
  try {
    // The client would repeat a call that had no effect for ten seconds.
    await client.callTool(tool, {}, { maxResendMs: 0 })
  } catch (error) {
    if (!isClientError(error) || error.rpc === undefined) throw error
    return error.rpc
  }
  throw new Error(`${tool} succeeded`)
}

function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function check(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise)
}
