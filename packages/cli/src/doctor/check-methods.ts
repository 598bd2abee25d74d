import { quoteText } from '@x/core'
import {
  checkResult,
  errorCodes,
  type Failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Method,
} from '@x/schema'
import { findHostProblems } from '@x/server'
import { type Finding, ok, skipped, type Target, wrong } from './check.ts'
import { findObstacle } from './check-auth.ts'
import { isModern } from './check-revision.ts'
import { describeReply, errorOf, resultOf } from './http-probe.ts'
import { remedyAfter, sendRpc } from './rpc-probe.ts'

const lists = [
  ['tools', 'tools/list'],
  ['prompts', 'prompts/list'],
  ['resources', 'resources/list'],
  ['resources', 'resources/templates/list'],
] as const

function hasCapability(target: Target, name: string): boolean {
  const capabilities = resultOf(target.discovered)?.['capabilities']
  return isJsonObject(capabilities) && capabilities[name] !== undefined
}

/** The lists say how long they are valid, and the schemas of tools are usable, also for known hosts. */
export async function checkLists(target: Target): Promise<Finding> {
  if (!isModern(target)) return skipped('The server does not serve the request.')
  const offered = lists.filter(([capability]) => hasCapability(target, capability))
  if (offered.length === 0) return skipped('The server offers no lists.')
  const problems: string[] = []
  for (const [, method] of offered) {
    const found = await checkList(target, method)
    if ('status' in found) return found
    problems.push(...found)
  }
  if (problems.length === 0) return ok(`${offered.map(([, method]) => method).join(', ')} are complete.`)
  return wrong(
    `${problems.slice(0, 3).join('; ')}${problems.length > 3 ? `; and ${problems.length - 3} more` : ''}.`,
    'Return ttlMs and cacheScope, input schemas of the type object in JSON Schema 2020-12, and tools that every host takes.',
  )
}

const maxPages = 100

/** The problems, or the scopes that the token lacks. The tools of all pages together must suit the hosts. */
async function checkList(target: Target, method: Method): Promise<readonly string[] | Finding> {
  const problems: string[] = []
  const allTools: JsonValue[] = []
  let cursor: string | undefined
  for (let pageCount = 0; pageCount < maxPages; pageCount += 1) {
    const reply = await sendRpc(target, { method, params: cursor === undefined ? {} : { cursor } })
    const result = resultOf(reply)
    const page = pageCount === 0 ? '' : `page ${pageCount + 1} of `
    if (result === undefined)
      return (
        (await explainFailure(target, method, reply)) ?? [...problems, `${page}${method} gives ${describeReply(reply)}`]
      )
    const { tools, nextCursor, ttlMs, cacheScope } = result
    if (Array.isArray(tools)) allTools.push(...tools)
    if (typeof ttlMs !== 'number' || typeof cacheScope !== 'string')
      problems.push(`${page}${method} has no caching hints`)
    else problems.push(...typeProblems(`${page}${method}`, checkResult(method, result)))
    if (typeof nextCursor !== 'string') return [...problems, ...toolListProblems(allTools.filter(isJsonObject))]
    cursor = nextCursor
  }
  return [...problems, `${method} has more than ${maxPages} pages`]
}

function explainFailure(
  target: Target,
  method: Method,
  reply: Awaited<ReturnType<typeof sendRpc>>,
): Promise<readonly [] | Finding | undefined> {
  // A server may have resources and no templates.
  const hasNone = method === 'resources/templates/list' && errorOf(reply)?.code === errorCodes.methodNotFound
  return hasNone ? Promise.resolve([]) : findObstacle(target, method, reply)
}

/** What clients leave out. A schema of another type is one of {@link toolProblems}, because those name the tool. */
function typeProblems(list: string, failure: Failure | undefined): readonly string[] {
  if (failure === undefined || failure.path.includes('.inputSchema')) return []
  return [`${list} has ${failure.got} at ${failure.path.slice(1)}, where ${failure.expected} belongs`]
}

function toolListProblems(toolList: readonly JsonObject[]): readonly string[] {
  const listedTools = toolList.flatMap(({ name, inputSchema }) =>
    typeof name === 'string' && isJsonObject(inputSchema) ? [{ name, inputSchema }] : [],
  )
  const hostProblems = findHostProblems(listedTools).map(({ message }) => message)
  return [...toolList.flatMap(toolProblems), ...hostProblems]
}

function toolProblems({ name, inputSchema }: JsonObject): readonly string[] {
  const tool = `the tool ${quoteText(name)}`
  if (!isJsonObject(inputSchema) || inputSchema['type'] !== 'object') return [`${tool} has no schema of an object`]
  const { $schema } = inputSchema
  return typeof $schema === 'string' && $schema.includes('draft-07') ? [`${tool} has a schema of draft-07`] : []
}

/** A client sees that a method does not exist. */
export async function checkUnknownMethod(target: Target): Promise<Finding> {
  if (!isModern(target)) return skipped('The server does not serve the request.')
  const method = 'mcpx/does-not-exist'
  const reply = await sendRpc(target, { method })
  if (errorOf(reply)?.code === errorCodes.methodNotFound)
    return ok(`An unknown method gives ${errorCodes.methodNotFound}.`)
  const remedy = remedyAfter(reply, `Answer with the error ${errorCodes.methodNotFound}.`)
  const found = `An unknown method gives ${describeReply(reply)}.`
  return (await findObstacle(target, method, reply)) ?? wrong(found, remedy)
}

/** A client sees that a tool does not exist. */
export async function checkUnknownTool(target: Target): Promise<Finding> {
  if (!isModern(target)) return skipped('The server does not serve the request.')
  if (!hasCapability(target, 'tools')) return skipped('The server has no tools.')
  const params = { name: 'mcpx-does-not-exist', arguments: {} }
  const method = 'tools/call'
  const reply = await sendRpc(target, { method, params })
  if (errorOf(reply)?.code === errorCodes.invalidParams) return ok(`An unknown tool gives ${errorCodes.invalidParams}.`)
  const reason = 'a result would reach the model as if the tool had run'
  const remedy = remedyAfter(reply, `Answer with the error ${errorCodes.invalidParams}: ${reason}.`)
  const found = `An unknown tool gives ${describeReply(reply)}.`
  return (await findObstacle(target, method, reply)) ?? wrong(found, remedy)
}
