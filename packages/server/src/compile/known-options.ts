import { findOptionsProblem } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { isJsonObject } from '@x/schema'
import { type ServerDefinition, serverOptionTable } from '../definitions/server-definition.ts'
import { describeType } from '../request/json-copy.ts'

/** Throws {@link DefinitionError} for an unknown option of a server. The message advises which option to use. */
export function checkServerOptions(definition: ServerDefinition): void {
  const reason = findOptionsProblem(definition, serverOptionTable, 'createServer')
  if (reason !== undefined) throw new DefinitionError('value', 'server', { reason })
  checkFunctions(definition)
}

/** Throws for middleware, extensions and a state that were not made by their functions. Programs without types do that. */
function checkFunctions(definition: ServerDefinition): void {
  const { use, extensions, state, toolSearch }: { readonly [name: string]: unknown } = { ...definition }
  const fail = (what: string, value: unknown, right: string): never => {
    throw new DefinitionError('value', 'server', { reason: `${what} is ${describeType(value)}; write ${right}` })
  }
  const checkList = (name: string, list: unknown, right: string, isEntry: (entry: unknown) => boolean): void => {
    if (list === undefined) return
    if (!Array.isArray(list)) return fail(name, list, right)
    for (const [index, entry] of list.entries()) if (!isEntry(entry)) fail(`${name}[${index}]`, entry, right)
  }
  checkList('use', use, 'use: [(next) => (request, call) => next(request, call)]', (one) => typeof one === 'function')
  checkList('extensions', extensions, 'extensions: [legacy()], with a call of each', (one) => Object(one) === one)
  if (toolSearch !== undefined && !(isJsonObject(toolSearch) && typeof toolSearch['start'] === 'function'))
    fail('toolSearch', toolSearch, 'toolSearch: toolSearch(), with the function of @x/server/tool-search')
  const isCodec = isJsonObject(state) && typeof state['seal'] === 'function' && typeof state['open'] === 'function'
  if (state !== undefined && state !== false && !isCodec)
    fail('state', state, "state: sealedState({ keys: process.env.STATE_KEYS.split(',') }), or false")
}
