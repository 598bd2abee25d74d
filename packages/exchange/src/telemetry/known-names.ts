import { findMethodRow, isJsonObject, type JsonObject } from '@x/schema'

/** Which tool or prompt a request names. */
export interface NamedTarget {
  readonly name: string | undefined
  readonly isTool: boolean
}

/** A server could accept any number of names. */
const maxKnownNames = 500

/**
 * Names of tools and prompts that a server has listed or served. A name in a call may come from a model, which can
 * invent any number of them, so it becomes part of a name or attribute only after the server has listed it, or has
 * answered it with a result.
 */
export interface KnownNames {
  has(target: NamedTarget): boolean
  /** Adds the names that a result proves: those of a list, or that of a call without an error. */
  learn(method: string, target: NamedTarget, result: JsonObject): void
}

/** No name is known at first. */
export function createKnownNames(): KnownNames {
  const names = new Set<string>()
  const add = (isTool: boolean, name: unknown): void => {
    if (typeof name === 'string' && names.size < maxKnownNames) names.add(`${isTool} ${name}`)
  }
  return {
    has: ({ name, isTool }) => name !== undefined && names.has(`${isTool} ${name}`),
    learn: (method, { name, isTool }, result) => {
      if (result['isError'] !== true) add(isTool, name)
      const row = findMethodRow(method)
      const items = row?.targetParam === undefined && row?.capability !== undefined ? result[row.capability] : undefined
      for (const item of Array.isArray(items) ? items : [])
        if (isJsonObject(item)) add(row?.capability === 'tools', item['name'])
    },
  }
}

/** Reads the tool or prompt from the params of a request. */
export function namedTargetOf(method: string, params: JsonObject | undefined): NamedTarget {
  const row = findMethodRow(method)
  const name = row?.targetParam === 'name' ? params?.['name'] : undefined
  return {
    name: typeof name === 'string' ? name : undefined,
    isTool: row?.targetParam === 'name' && row.capability === 'tools',
  }
}
