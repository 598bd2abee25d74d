import { type Client, type ClientExtension, createClient, type RoundView } from '@x/client'
import type { CallToolResult, ElicitRequestFormParams } from '@x/schema'
import type { HttpAuthorizer } from '@x/transport-http/client'
import pc from 'picocolors'
import * as z from 'zod'
import { instanceIn } from '../fleet/instance-meta.ts'
import { toDisplayText } from '@x/cli/terminal'
import { watchedExchange } from '../walk-through/watched-exchange.ts'
import type { Person } from './person.ts'

/** The dependencies of a turn. */
export interface TurnOptions {
  readonly url: string
  /** The login of the user. Undefined for a server without a login. */
  readonly auth?: HttpAuthorizer | undefined
  readonly person: Person
  /** `true` if prompts frame the text that is printed between them. */
  readonly inTerminal: boolean
  readonly signal: AbortSignal
  readonly print: (text: string) => void
}

/** The outcome of a turn. */
export type TurnEnd = 'changed' | 'unchanged' | 'left'

const found = z.object({
  workItems: z.array(z.object({ id: z.number(), type: z.string(), title: z.string(), state: z.string() })),
})
const isOpen = new Set(['New', 'Active'])

/**
 * Lets a person resolve a bug. This function asks which bug, and the server asks the other questions. Resolves to
 * `left` if the person selected no bug. Rejects with the error of the call or the signal's reason.
 */
export async function takeTurn({ url, auth, person, inTerminal, signal, print }: TurnOptions): Promise<TurnEnd> {
  const exchange = watchedExchange(url, () => {}, auth)
  // The prompts draw a bar at the left of the lines that belong together.
  const margin = inTerminal ? `${pc.gray('│')}  ` : '   '
  const printRounds: ClientExtension = {
    extends: 'client',
    name: 'printRounds',
    start: () => ({
      observe: (event) => {
        if (event.type === 'round') print(`${margin}${pc.dim(formatRound(event))}`)
      },
    }),
  }
  const client = createClient(exchange, {
    name: 'your-turn',
    version: '0.1.0',
    cache: false,
    extensions: [printRounds],
  })
  const workItemId = await chooseBug(client, person, signal)
  if (workItemId === undefined) return 'left'
  const result = await client.callTool(
    'update_work_item',
    { workItemId, fields: { 'System.State': 'Resolved' } },
    { signal, elicit: (question, { key }) => person.answer(key, question) },
  )
  const leftOver = person.leftOver()
  print(formatResult(result))
  if (leftOver !== undefined) throw new Error(leftOver)
  return wasChanged(result) ? 'changed' : 'unchanged'
}

/** Asks which bug to resolve, with a form like those of the server. */
async function chooseBug(client: Client, person: Person, signal: AbortSignal): Promise<number | undefined> {
  const listed = await client.callTool('list_work_items', { type: 'Bug' }, { signal })
  const bugs = found.parse(listed.structuredContent).workItems.filter(({ state }) => isOpen.has(state))
  if (bugs.length === 0) return undefined
  const options = bugs.map(({ id, title, state }) => ({ const: String(id), title: `#${id} (${state}): ${title}` }))
  const question: ElicitRequestFormParams = {
    message: 'Your turn: which bug is resolved?',
    requestedSchema: {
      type: 'object',
      properties: { workItemId: { type: 'string', title: 'Bug', oneOf: options } },
      required: ['workItemId'],
    },
  }
  const { action, content } = await person.answer('work_item', question)
  if (action !== 'accept') return undefined
  const chosen = Number(content?.['workItemId'])
  if (bugs.some(({ id }) => id === chosen)) return chosen
  const ids = bugs.map(({ id }) => id).join(', ')
  throw new Error(`the answer to "work_item" should have a "workItemId" of an open bug, one of ${ids}`)
}

function formatRound({ round, status, stateBytes, durationMs, meta }: RoundView): string {
  const instance = meta === undefined ? undefined : instanceIn(meta)
  const who = `instance ${instance?.id ?? '?'}`
  const what = status === 'complete' ? 'answers' : `asks, and leaves ${stateBytes} bytes of state with the client`
  return `round ${round}: ${who} ${what} (${durationMs.toFixed(0)} ms)`
}

function formatResult(result: CallToolResult): string {
  const text = result.content.flatMap((block) => (block.type === 'text' ? [toDisplayText(block.text)] : [])).join('\n')
  return `${result.isError === true ? pc.red('✘') : pc.green('✔')}  ${text}\n`
}

const changes = z.object({ changed: z.array(z.string()) })

function wasChanged({ isError, structuredContent }: CallToolResult): boolean {
  const parsed = changes.safeParse(structuredContent)
  return isError !== true && parsed.success && parsed.data.changed.length > 0
}
