import { findMisplacedMembers, findMisspeltMembers, isJsonObject, type JsonObject, quoteText } from '@x/core'
import * as z from 'zod'
import { findUpstreamNameProblem } from '../names/names.ts'
import { describeIssues } from './file-schema.ts'
import type { ServersFileInput } from './placeholders.ts'

/** Some files have numbers and truth values where only texts work. */
const text = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const texts = z.record(z.string(), text).default({})
const name = z.string().min(1)

const commandServer = z.object({
  command: name,
  args: z.array(text).default([]),
  env: texts,
  envFile: name.optional(),
  cwd: name.optional(),
})

const urlServer = z
  .object({
    url: name.optional(),
    /** Gemini CLI and Windsurf have this member. */
    httpUrl: name.optional(),
    serverUrl: name.optional(),
    headers: texts,
    oauth: z.looseObject({ clientId: name.optional(), clientSecret: name.optional() }).optional().catch(undefined),
    auth: z.looseObject({ CLIENT_ID: name.optional(), CLIENT_SECRET: name.optional() }).optional().catch(undefined),
  })
  .transform(({ url, httpUrl, serverUrl, headers, oauth, auth }) => ({
    url: url ?? httpUrl ?? serverUrl ?? '',
    headers,
    clientId: oauth?.clientId ?? auth?.CLIENT_ID,
    clientSecret: oauth?.clientSecret ?? auth?.CLIENT_SECRET,
  }))

const input = z.looseObject({
  id: name,
  description: z.string().optional(),
  password: z.boolean().default(false),
  default: z.string().optional(),
  options: z.array(z.string()).optional().catch(undefined),
})

export type CommandServer = z.infer<typeof commandServer>
export type UrlServer = z.infer<typeof urlServer>

/**
 * Reads the servers that a file enables, with the values that it asks for and its problems. Members that only concern
 * another host are ignored.
 */
export function parseServers(file: JsonObject): {
  /** Each with its name in the file and as an upstream. */
  readonly servers: readonly {
    readonly name: string
    readonly upstream: string
    readonly server: CommandServer | UrlServer
  }[]
  readonly inputs: readonly ServersFileInput[]
  readonly problems: string[]
} {
  const problems: string[] = []
  const found = z.record(z.string(), z.unknown()).safeParse(file['mcpServers'] ?? file['servers'])
  if (!found.success) problems.push('must have mcpServers, or the servers of VS Code, an object')
  const taken = new Set<string>()
  const servers = Object.entries(found.data ?? {}).flatMap(([key, value]) => {
    const entry = z.looseObject({}).safeParse(value)
    if (entry.data?.['disabled'] === true || entry.data?.['enabled'] === false) return []
    const server = parseServer(key, entry.data ?? {}, problems)
    return server === undefined ? [] : [{ name: key, upstream: toUpstreamName(key, taken), server }]
  })
  const inputs = z.array(input).safeParse(file['inputs'] ?? [])
  if (!inputs.success) problems.push(...describeIssues(inputs.error).map((problem) => `inputs.${problem}`))
  const given = Array.isArray(file['inputs']) ? file['inputs'] : []
  for (const [index, each] of given.entries())
    problems.push(...describeMisspelt(`inputs.${index}`, each, ['type', ...Object.keys(input.shape)]))
  return { servers, inputs: (inputs.data ?? []).map(toInput), problems }
}

function toInput({ id, description, password, default: value, options }: z.infer<typeof input>): ServersFileInput {
  return { id, description, password, default: value, options }
}

const urlTypes: readonly unknown[] = [undefined, 'http', 'streamable-http', 'streamableHttp', 'remote']

function parseServer(
  key: string,
  entry: Readonly<Record<string, unknown>>,
  problems: string[],
): CommandServer | UrlServer | undefined {
  const hasUrl = ['url', 'httpUrl', 'serverUrl'].some((member) => entry[member] !== undefined)
  const wrong = findWrongMembers(key, entry, hasUrl)
  problems.push(...wrong)
  if (hasUrl === (entry['command'] !== undefined)) {
    if (wrong.length === 0) problems.push(`${key}: must have url or command, and not both`)
    return undefined
  }
  const type = entry['type']
  if (hasUrl && !urlTypes.includes(type)) {
    const reason = type === 'sse' ? 'HTTP+SSE of 2024-11-05 is not supported' : 'a server at a URL has the type "http"'
    problems.push(`${key}.type: ${reason}: name the URL of Streamable HTTP`)
    return undefined
  }
  const { data, error } = (hasUrl ? urlServer : commandServer).safeParse(entry)
  if (error !== undefined) problems.push(...describeIssues(error).map((problem) => `${key}.${problem}`))
  return data
}

const hostMembers = ['type', 'disabled', 'enabled']
const urlMembers = ['url', 'httpUrl', 'serverUrl', 'headers', 'oauth', 'auth']
const commandMembers = Object.keys(commandServer.shape)

/**
 * A misspelt member would be ignored as if it were another host's, and a server would start without its headers. So
 * would one that only the other kind of server has.
 */
function findWrongMembers(key: string, entry: Readonly<Record<string, unknown>>, hasUrl: boolean): readonly string[] {
  const hasCommand = entry['command'] !== undefined
  const all = [...urlMembers, ...commandMembers]
  const [own, otherNames] = hasUrl ? [urlMembers, commandMembers] : [commandMembers, urlMembers]
  const ownNames = [...hostMembers, ...(hasUrl === hasCommand ? all : own)]
  const misplaced = findMisplacedMembers(entry, { ownNames, otherNames })
  const advice = hasUrl ? 'a server at a URL takes headers' : `a command takes ${commandMembers.slice(1).join(', ')}`
  return [
    ...describeMisspelt(key, entry, ownNames),
    ...misplaced.map((name) => `${key}: ${quoteText(name)} has no effect: ${advice}`),
    ...describeMisspelt(`${key}.oauth`, entry['oauth'], ['clientId', 'clientSecret']),
    ...describeMisspelt(`${key}.auth`, entry['auth'], ['CLIENT_ID', 'CLIENT_SECRET']),
  ]
}

function describeMisspelt(place: string, value: unknown, known: readonly string[]): readonly string[] {
  return isJsonObject(value) ? findMisspeltMembers(value, known).map((problem) => `${place}: ${problem}`) : []
}

function toUpstreamName(key: string, taken: Set<string>): string {
  const words = key.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const joined = words
    .join('-')
    .replace(/^(?=\d)/, 'server-')
    .slice(0, 32)
    .replace(/-$/, '')
  const first = findUpstreamNameProblem(joined) === undefined ? joined : 'server'
  let name = first
  for (let count = 2; taken.has(name); count += 1) name = `${first.slice(0, 28)}-${count}`.replace('--', '-')
  taken.add(name)
  return name
}

/** VS Code's files may have comments and trailing commas. */
export function withoutComments(file: string): string {
  const plain = file.replace(/^\uFEFF/, '').replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
  return plain.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1')
}
