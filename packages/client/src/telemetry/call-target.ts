import type { Attributes } from '@opentelemetry/api'
import { findMethodRow, isJsonObject, type JsonObject } from '@x/schema'
import { conventions } from '@x/exchange/internal'

/** The name and the attributes that the spans of a request have. */
export interface CallTarget {
  /** The name of the tool or prompt, as the program gave it. */
  readonly name: string | undefined
  readonly isTool: boolean
  readonly isStreaming: boolean
  /** The attributes without the name of the tool or prompt. */
  readonly attributes: Attributes
  readonly method: string
}

/** The largest number of names that a client remembers. A server could accept any number of names. */
const maxKnownNames = 500

/**
 * The names of tools and prompts that a server has listed or served. A name of a call may come from a model, which can
 * invent any number of names. So it becomes part of a name or attribute only after the server has listed it, or has
 * answered it with a result.
 */
export interface KnownNames {
  has(target: CallTarget): boolean
  add(target: CallTarget): void
  /** Adds the names of a list of tools or prompts. Ignores the result of any other request. */
  addListed(method: string, result: JsonObject): void
}

/** Creates an empty {@link KnownNames}. */
export function createKnownNames(): KnownNames {
  const names = new Set<string>()
  const keyOf = ({ name, isTool }: CallTarget): string => `${isTool} ${name}`
  const add = (key: string): void => {
    if (names.size < maxKnownNames) names.add(key)
  }
  return {
    has: (target) => target.name !== undefined && names.has(keyOf(target)),
    add: (target) => {
      if (target.name !== undefined) add(keyOf(target))
    },
    addListed: (method, result) => {
      const row = findMethodRow(method)
      const items = row?.targetParam === undefined && row?.capability !== undefined ? result[row.capability] : undefined
      for (const item of Array.isArray(items) ? items : []) {
        const name = isJsonObject(item) ? item['name'] : undefined
        if (typeof name === 'string') add(`${row?.capability === 'tools'} ${name}`)
      }
    },
  }
}

/** Returns the target of a request. `server` has the attributes of the server's address. */
export function callTargetOf(method: string, params: JsonObject | undefined, server: Attributes): CallTarget {
  const row = findMethodRow(method)
  const isNamed = row?.targetParam === 'name'
  const isTool = isNamed && row.capability === 'tools'
  const name = isNamed ? params?.['name'] : undefined
  return {
    method,
    name: typeof name === 'string' ? name : undefined,
    isTool,
    isStreaming: row?.isStreaming === true,
    attributes: {
      // A program may call any method of an extension, so only methods of the protocol become attributes.
      [conventions.attributes.method]: row === undefined ? conventions.otherMethod : method,
      ...(isTool && { [conventions.attributes.operation]: 'execute_tool' }),
      ...server,
    },
  }
}

/** Returns the attribute of the tool or prompt, if its name is known. */
export function nameAttributesOf(target: CallTarget, knownNames: KnownNames): Attributes {
  const { name, isTool } = target
  if (name === undefined || !knownNames.has(target)) return {}
  return { [isTool ? conventions.attributes.tool : conventions.attributes.prompt]: name }
}

/** Returns the attributes of the server that a URL names, and of the transport. */
export function serverAttributesOf(url: string | undefined): Attributes {
  if (url === undefined || !URL.canParse(url)) return {}
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return {}
  return {
    [conventions.attributes.transport]: 'tcp',
    [conventions.attributes.protocol]: 'http',
    [conventions.attributes.serverAddress]: hostname,
    [conventions.attributes.serverPort]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
