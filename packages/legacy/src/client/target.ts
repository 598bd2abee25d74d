import { findMisplacedMembers, findMisspeltMembers, type OptionType, optionTypes, quoteText } from '@x/core'

/** A server at a URL, as a host's configuration has it. */
export interface AddressEntry {
  /** Transport, if the configuration names it: `http` or `streamable-http`. */
  readonly type?: string | undefined
  readonly url: string | URL
  /** Headers of every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * A server that is a program of this machine, as a host's configuration has it. Never accept an entry from a network,
 * because it chooses what runs here.
 */
export interface CommandEntry {
  /** Transport, if the configuration names it: `stdio`. */
  readonly type?: string | undefined
  /** Program: a path, or a name that is looked up in `PATH`. No shell runs it. */
  readonly command: string
  /** Passed on to the program unchanged. */
  readonly args?: readonly string[] | undefined
  /** Environment variables, in addition to the few that every process gets. They replace variables of the same name. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Working directory of the process. Default: that of this process. */
  readonly cwd?: string | URL | undefined
}

/**
 * A server, as its URL or as its entry in a host's configuration. Other members of an entry are for the host, and are
 * ignored here, but for one that is a misspelling of these, or that only the other kind of server has.
 */
export type ServerTarget = string | URL | AddressEntry | CommandEntry

/** A checked target. */
export type ParsedTarget =
  | { readonly transport: 'http'; readonly url: URL; readonly headers: Readonly<Record<string, string>> }
  | { readonly transport: 'stdio'; readonly entry: CommandEntry }

const advice = 'a server is a URL, { url, headers } or { command, args, env, cwd }'
const addressMembers = ['type', 'url', 'headers']
const commandMembers = ['type', 'command', 'args', 'env', 'cwd']
/** Of members that would otherwise be read letter by letter. */
const memberTypes: ReadonlyMap<string, OptionType> = new Map<string, OptionType>([
  ['headers', optionTypes.texts],
  ['args', optionTypes.strings],
  ['env', optionTypes.object],
])
const httpTypes: readonly unknown[] = [undefined, 'http', 'streamable-http', 'streamableHttp']
const stdioTypes: readonly unknown[] = [undefined, 'stdio']

/** Throws a `TypeError` for an invalid target; its message describes valid ones. */
export function parseTarget(target: ServerTarget): ParsedTarget {
  if (typeof target === 'string' || target instanceof URL) return parseAddress({ url: target })
  const hasUrl = 'url' in target && target.url !== undefined
  const hasCommand = 'command' in target && target.command !== undefined
  rejectMisspelt(target, { hasUrl, hasCommand })
  if (hasUrl === hasCommand)
    throw new TypeError(`Got ${hasUrl ? 'both url and command' : 'neither url nor command'}: ${advice}`)
  rejectMisplaced(target, hasUrl)
  rejectWrongTypes(target)
  return hasUrl ? parseAddress(target) : parseCommand(target as CommandEntry)
}

/** Ignored as a host's member, a misspelt one would send requests without their headers. */
function rejectMisspelt(
  entry: object,
  { hasUrl, hasCommand }: { readonly hasUrl: boolean; readonly hasCommand: boolean },
): void {
  const known = [...(hasCommand ? [] : addressMembers), ...(hasUrl ? [] : commandMembers)]
  const [misspelt] = findMisspeltMembers(entry, known)
  if (misspelt !== undefined) throw new TypeError(`${misspelt} ${advice}`)
}

/** The types allow it: an object of a union may have the members of each. */
function rejectMisplaced(entry: object, hasUrl: boolean): void {
  const [ownNames, otherNames] = hasUrl ? [addressMembers, commandMembers] : [commandMembers, addressMembers]
  const [misplaced] = findMisplacedMembers(entry, { ownNames, otherNames })
  if (misplaced === undefined) return
  throw new TypeError(`${quoteText(misplaced)} has no effect beside ${hasUrl ? 'url' : 'command'}: ${advice}`)
}

function rejectWrongTypes(entry: object): void {
  for (const [name, { accepts, name: typeName }] of memberTypes) {
    const value: unknown = Reflect.get(entry, name)
    if (value !== undefined && !accepts(value)) throw new TypeError(`${name} must be ${typeName}: ${advice}`)
  }
}

function parseAddress({ type, url, headers = {} }: AddressEntry): ParsedTarget {
  if (type === 'sse')
    throw new TypeError('The transport HTTP+SSE of 2024-11-05 is not supported: name a URL of Streamable HTTP')
  if (!httpTypes.includes(type)) throw new TypeError(`A server at a URL has the type "http", not "${type}"`)
  if (!URL.canParse(String(url))) throw new TypeError(`"${url}" is not a URL: ${advice}`)
  const parsedUrl = new URL(url)
  if (!/^https?:$/.test(parsedUrl.protocol))
    throw new TypeError(`A server has an address of http or https, not of ${parsedUrl.protocol.slice(0, -1)}`)
  return { transport: 'http', url: parsedUrl, headers }
}

function parseCommand(entry: CommandEntry): ParsedTarget {
  const { type, command } = entry
  if (!stdioTypes.includes(type)) throw new TypeError(`A server of a command has the type "stdio", not "${type}"`)
  if (typeof command !== 'string' || command === '') throw new TypeError('command is the name or the path of a program')
  return { transport: 'stdio', entry }
}
