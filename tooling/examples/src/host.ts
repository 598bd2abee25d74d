import { type Client, createClient, type ElicitAnswer, type InputContext, type InputHandlers } from '@x/client'
import { type AnyConnection, connectAny, type ServerTarget } from '@x/legacy/client'
import { type ElicitRequestFormParams, isJsonObject, type JsonObject } from '@x/schema'

/** The terminal of a host, for example with the functions of `readline/promises`. */
export interface Terminal {
  /** Resolves with the line that the user enters. */
  question(text: string): Promise<string>
  write(text: string): void
}

type Revision = 'probe' | '2026-07-28' | 'older'

/** Connects to a URL, or to the process of a command. The server may use any revision. */
export function connectTo([target = '', ...args]: readonly string[], revision: Revision = 'probe'): AnyConnection {
  return connectAny(/^https?:/.test(target) ? target : { command: target, args }, { revision })
}

// #region configured
/** The part of a host's configuration that names servers. */
export interface HostConfiguration {
  readonly mcpServers: Readonly<Record<string, ServerTarget>>
}

/** Connects to every server of a configuration. A connection is opened by its first request. */
export function connectAll({ mcpServers }: HostConfiguration): Map<string, AnyConnection> {
  return new Map(Object.entries(mcpServers).map(([name, entry]) => [name, connectAny(entry)]))
}
// #endregion

/**
 * Runs a host in a terminal: each line is the name of a tool and its arguments as JSON. An empty line ends the
 * program.
 */
export async function runHost(connection: AnyConnection, terminal: Terminal): Promise<void> {
  const client = createClient(connection, { name: 'terminal-host', version: '1.0.0', ...answerAt(terminal) })
  const tools = await client.listTools()
  const { peer } = connection
  const revision = peer?.revision ?? '2026-07-28'
  terminal.write(`The server speaks ${revision} and has ${tools.map(({ name }) => name).join(', ')}\n`)
  await callLines(client, terminal)
}

/** Passes the questions of a server to the user. */
export function answerAt(terminal: Terminal): Pick<InputHandlers, 'elicit' | 'openUrl'> {
  return {
    elicit: (form, context) => askFields(form, askerOf(context), terminal),
    openUrl: async ({ message, url }, context) => {
      const agreed = await terminal.question(`${askerOf(context)} asks: ${message}\nOpen ${url}? (y/n) `)
      return { action: agreed === 'y' ? 'accept' : 'decline' }
    },
  }
}

/** Behind a gateway, only the name of the tool says which server asks. */
function askerOf({ target = 'A call', server = 'a server' }: InputContext): string {
  return `${target} of ${server}`
}

/** Calls a tool for each line that the user enters, until an empty one. */
export async function callLines(client: Pick<Client, 'callTool'>, terminal: Terminal): Promise<void> {
  for (;;) {
    const line = await terminal.question('> ')
    if (line === '') return
    terminal.write(`${await callLine(client, line)}\n`)
  }
}

async function callLine(client: Pick<Client, 'callTool'>, line: string): Promise<string> {
  const [name = '', ...rest] = line.split(' ')
  try {
    const { content } = await client.callTool(name, parseArguments(rest.join(' ')))
    return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
  } catch (error) {
    return `Failed: ${error instanceof Error ? error.message : String(error)}`
  }
}

function parseArguments(text: string): JsonObject {
  const parsed: unknown = text === '' ? {} : JSON.parse(text)
  if (isJsonObject(parsed)) return parsed
  throw new TypeError('Arguments must be a JSON object')
}

// #region form
/**
 * Asks for each field of a form in turn. An empty answer omits an optional field, and cancels the form at a required
 * one.
 */
async function askFields(form: ElicitRequestFormParams, asker: string, terminal: Terminal): Promise<ElicitAnswer> {
  terminal.write(`${asker} asks: ${form.message}\n`)
  const { properties, required = [] } = form.requestedSchema
  const content: Record<string, string | number | boolean> = {}
  for (const [name, field] of Object.entries(properties)) {
    const choices = 'enum' in field && Array.isArray(field.enum) ? ` (${field.enum.join(', ')})` : ''
    const entered = await terminal.question(`${field.title ?? name}${choices}: `)
    if (entered === '' && required.includes(name)) return { action: 'cancel' }
    if (entered !== '') content[name] = valueOf(entered, field.type)
  }
  return { action: 'accept', content }
}

function valueOf(entered: string, type: string): string | number | boolean {
  if (type === 'number' || type === 'integer') return Number(entered)
  return type === 'boolean' ? entered === 'true' : entered
}
// #endregion
