import { type Client, createClient } from '@x/client'

/** The outcome of each check by its name: `passed`, or the reason of the failure. */
export type Outcomes = Readonly<Record<string, string>>

/** Requests are not sent again, so that no retry hides a failure. */
const options = { name: 'runtime-client', version: '1.0.0', timeoutMs: 30_000, maxResendMs: 0 } as const

/** Time limit of one check, in milliseconds. */
const limitMs = 20_000

/** Milliseconds between two requests for the state of a call. */
const pollMs = 50

/** The checks that every runtime passes, as a server and as a client. */
const checks: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  async call(client) {
    equal(await textOf(client, 'add', { a: 1, b: 2 }), '3')
  },
  async 'two questions'(client) {
    const asked: string[] = []
    const { content } = await client.callTool('book', undefined, {
      elicit: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: asked.length === 1 ? { day: 'Monday' } : { room: 'Zürich' } }
      },
    })
    equal([asked, content], [['Which day?', 'Which room on Monday?'], [{ type: 'text', text: 'Zürich on Monday' }]])
  },
  async progress(client) {
    const steps: number[] = []
    await client.callTool('count', undefined, { onProgress: ({ progress }) => void steps.push(progress) })
    equal(steps, [1, 2, 3])
  },
  async 'header parameters'(client) {
    await client.listTools()
    equal(await textOf(client, 'deploy', { region: 'Zürich' }), 'deployed to Zürich')
  },
  'cancellation of a call': (client) => cancelCall(client, { progress: false }),
  'cancellation of a stream': (client) => cancelCall(client, { progress: true }),
  async subscription(client) {
    const filter = { resourceSubscriptions: ['runtime://value'] }
    const types: string[] = []
    for await (const event of client.listen(filter, { reopen: false })) {
      types.push(event.type)
      if (event.type !== 'opened') break
      await client.callTool('change')
    }
    equal(types, ['opened', 'resourceUpdated'])
  },
}

/** The names of the checks. */
export const checkNames: readonly string[] = Object.keys(checks)

/** Runs every check over one connection. */
export async function runChecks(target: Parameters<typeof createClient>[0]): Promise<Outcomes> {
  await using client = createClient(target, options)
  const outcomes: Record<string, string> = {}
  for (const [name, run] of Object.entries(checks)) outcomes[name] = await outcomeOf(() => run(client))
  return outcomes
}

/** Checks that a call without output for the given time keeps its connection. */
export async function runQuietCheck(target: Parameters<typeof createClient>[0], milliseconds: number): Promise<string> {
  await using client = createClient(target, options)
  return await outcomeOf(async () => equal(await textOf(client, 'rest', { milliseconds }), 'rested'))
}

/** Returns `passed`, or the reason why a check failed or did not end. */
export async function outcomeOf(run: () => Promise<void>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`Not finished after ${limitMs} ms`), limitMs)
  })
  const passed = run().then(() => 'passed', describe)
  const outcome = await Promise.race([passed, timedOut])
  clearTimeout(timer)
  return outcome
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? String(error) : `${String(error)}; ${describe(error.cause)}`
}

async function cancelCall(client: Client, { progress }: { readonly progress: boolean }): Promise<void> {
  const id = crypto.randomUUID()
  const controller = new AbortController()
  let report = (): void => {}
  const reported = new Promise<void>((resolve) => {
    report = resolve
  })
  const args = { id, progress }
  const pending = client.callTool('wait', args, { signal: controller.signal, onProgress: () => report() })
  const ended = pending.then(
    () => 'a result',
    (error: unknown) => error,
  )
  if (progress) await Promise.race([reported, ended])
  await untilState(client, id, 'running')
  const reason = new Error('The user cancelled')
  controller.abort(reason)
  if ((await ended) !== reason) throw new Error(`The call ended with ${describe(await ended)}`)
  await untilState(client, id, 'cancelled')
}

async function untilState(client: Client, id: string, expected: string): Promise<void> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const state = await textOf(client, 'state_of', { id })
    if (state === expected) return
    if (Date.now() > deadline) throw new Error(`The handler is ${state} after 10 seconds, not ${expected}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function textOf(client: Client, tool: string, args: Parameters<Client['callTool']>[1]): Promise<string> {
  const { content } = await client.callTool(tool, args)
  const [first] = content
  if (first?.type !== 'text') throw new Error(`The result is ${JSON.stringify(content)}`)
  return first.text
}

/** Throws when two values differ in their JSON. */
export function equal(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return
  throw new Error(`Expected ${JSON.stringify(expected)}, received ${JSON.stringify(actual)}`)
}
