import { findOptionsProblem } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { isJsonObject, isMetaKey, type JsonObject } from '@x/schema'
import { type ObjectInput, toObjectInput } from '@x/schema/internal'
import type { CompiledDefinition, CompiledCacheHints } from './catalog.ts'
import type { CacheHints, Completer, BaseDefinition } from '../definitions/base-definition.ts'
import { foreignMemberNames, memberNames } from './listed-members.ts'
import { freezeJsonObject } from '../request/json-copy.ts'

/** Compiles what all kinds of definitions share. */
export function compileEntry(
  wireEntry: object,
  definition: BaseDefinition,
  errorSubject: string,
): Omit<CompiledDefinition, 'key'> {
  const reason = findDefinitionProblem(definition)
  if (reason !== undefined) throw new DefinitionError('value', errorSubject, { reason })
  const { visibleTo, requires, meta } = definition
  for (const key of Object.keys(meta ?? {})) checkMetaKey(key, errorSubject)
  return { wireEntry: freezeJsonObject(wireEntry, errorSubject), visibleTo, requires }
}

/**
 * Finds an option by its name in another library, which would otherwise be ignored, an unknown one, and a missing
 * handler. A program without types has no other hint.
 */
function findDefinitionProblem(definition: BaseDefinition): string | undefined {
  const foreign = Object.entries(foreignMemberNames).find(([foreignName]) => Object.hasOwn(definition, foreignName))
  if (foreign !== undefined) return `${foreign[0]} is called ${foreign[1]}`
  const problem = findOptionsProblem(definition, memberNames, 'it')
  if (problem !== undefined) return problem
  const handlers: readonly unknown[] = [Reflect.get(definition, 'run'), Reflect.get(definition, 'read')]
  if (!handlers.some((handler) => typeof handler === 'function'))
    return 'has no handler; write the function `run`, or `read` for a resource'
  return definition.requires === undefined || isJsonObject(definition.requires)
    ? undefined
    : 'requires must be an object of client capabilities, such as { sampling: {} }'
}

/** Throws for a `_meta` key that is not of the form `com.example/name` or `name` (basic/index, `_meta`). */
function checkMetaKey(key: string, errorSubject: string): void {
  if (isMetaKey(key)) return
  const reason = `the key ${JSON.stringify(key)} is not of the form "com.example/name"`
  throw new DefinitionError('name', errorSubject, { reason })
}

/** Fills in defaults for absent caching hints (server/utilities/caching). Throws for invalid values. */
export function compileCacheHints(
  hints: CacheHints | undefined,
  defaults: CompiledCacheHints,
  errorSubject: string,
): CompiledCacheHints {
  const { ttlMs = defaults.ttlMs, scope = defaults.scope } = hints ?? {}
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
    const reason = `ttlMs is ${ttlMs}; write a whole number of milliseconds from 0`
    throw new DefinitionError('cache', errorSubject, { reason })
  }
  if (scope !== 'public' && scope !== 'private') {
    const reason = `the cache scope is ${JSON.stringify(scope)}; write "public" or "private"`
    throw new DefinitionError('cache', errorSubject, { reason })
  }
  return { ttlMs, scope }
}

/** Gives each name its completer, or undefined. Throws for a completer of an unknown name. */
export function compileCompleters(
  completableNames: readonly string[],
  declaredCompleters: { readonly [name: string]: Completer | undefined } | undefined,
  errorSubject: string,
): ReadonlyMap<string, Completer | undefined> {
  const completerByName = new Map(Object.entries(declaredCompleters ?? {}))
  for (const name of completerByName.keys()) {
    if (!completableNames.includes(name)) {
      const reason = `completes ${JSON.stringify(name)}, which it does not have; it has: ${completableNames.join(', ') || 'none'}`
      throw new DefinitionError('completion', errorSubject, { reason })
    }
  }
  return new Map(completableNames.map((name) => [name, completerByName.get(name)]))
}

/** A JSON object's members, or an empty array for any other value. */
export function memberEntries(value: JsonObject[string]): readonly (readonly [string, JsonObject[string]])[] {
  return isJsonObject(value) ? Object.entries(value) : []
}

/** Writes a schema of arguments as one object, or throws a {@link DefinitionError} that says why it is none. */
export function requireObjectInput(schema: JsonObject, errorSubject: string): ObjectInput {
  const input = toObjectInput(schema)
  if (typeof input === 'string') throw new DefinitionError('schema', errorSubject, { reason: input })
  return input
}
