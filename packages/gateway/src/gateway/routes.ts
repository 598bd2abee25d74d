import { isJsonObject, type JsonObject, quoteName } from '@x/core'
import { errorCodes, McpError } from '@x/schema'
import { findInnerName, hasAcceptedDefinition, promptsOf, toolsOf } from './find-item.ts'
import { loginTool } from './login.ts'
import { askMember, type HostRequest, type Member } from '../upstream/member.ts'
import { decodeName, type Inner } from '../names/names.ts'
import {
  rewriteContent,
  type Rewrite,
  rewriteContents,
  rewriteMessages,
  rewriteResources,
  rewriteSkill,
  rewriteTask,
} from '../names/rewrite.ts'
import { decodeUri } from '../names/uris.ts'

/** The upstream that a request reaches, with the params for it. */
export interface Target {
  readonly member: Member
  readonly params: JsonObject
  /** The value of the header `Mcp-Name`, for a method of an extension. Absent for other methods. */
  readonly headerName?: string | undefined
  /** The id of a task as the host knows it. Absent for other methods. */
  readonly taskId?: string | undefined
}

/** A method whose requests reach one upstream. */
export interface Route {
  /** Finds the upstream. Rejects with an `McpError` for a target that no upstream has. */
  readonly find: (host: HostRequest) => Promise<Target>
  /** Rewrites the complete result. */
  readonly rewrite: Rewrite
}

const keep: Rewrite = (result) => result

/** The methods whose requests reach one upstream. */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['tools/call', { find: findTool, rewrite: rewriteContent }],
  ['prompts/get', { find: findPrompt, rewrite: rewriteMessages }],
  ['resources/read', { find: findUri, rewrite: rewriteContents }],
  ['completion/complete', { find: findReference, rewrite: keep }],
  ['tasks/get', { find: findTask, rewrite: rewriteTask }],
  ['tasks/update', { find: findTask, rewrite: keep }],
  ['tasks/cancel', { find: findTask, rewrite: keep }],
  ['skills/get', { find: findUri, rewrite: rewriteSkillResult }],
  ['resources/directory/read', { find: findUri, rewrite: rewriteResources }],
  ['sessions/create', { find: findSessions, rewrite: keep }],
  ['sessions/delete', { find: findSessions, rewrite: keep }],
])

async function findTool(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const name = String(params['name'])
  const target = findMember(decodeName(name), host)
  if (target !== undefined) {
    const { member, inner } = target
    if (member.credential !== undefined && inner === loginTool) return { member, params: { ...params, name: inner } }
    const tool = member.toolNames.toolOf(await findInnerName({ inner, name }, toolsOf(member), host))
    if (tool !== undefined && (await hasAcceptedDefinition(member, tool, host)))
      return { member, params: { ...params, name: tool } }
  }
  throw unknownError('tool', name)
}

async function findPrompt(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const { member, names } = await findPromptName(String(params['name']), host)
  return { member, params: { ...params, ...names } }
}

async function findPromptName(
  name: string,
  host: HostRequest,
): Promise<{ readonly member: Member; readonly names: { readonly name: string } }> {
  const target = findMember(decodeName(name), host)
  if (target === undefined) throw unknownError('prompt', name)
  const { member, inner } = target
  return { member, names: { name: await findInnerName({ inner, name }, promptsOf(member), host) } }
}

async function findUri(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const { member, inner } = requireUri(params['uri'], host)
  return { member, params: { ...params, uri: inner }, headerName: inner }
}

async function findReference(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const { ref } = params
  if (!isJsonObject(ref)) throw new McpError(errorCodes.invalidParams, 'params.ref must be an object')
  if (ref['uri'] === undefined) {
    const { member, names } = await findPromptName(String(ref['name']), host)
    return { member, params: { ...params, ref: { ...ref, ...names } } }
  }
  const { member, inner } = requireUri(ref['uri'], host)
  return { member, params: { ...params, ref: { ...ref, uri: inner } } }
}

async function findTask({ request, call, parts }: HostRequest): Promise<Target> {
  const { params = {} } = request
  const taskId = String(params['taskId'])
  const opened = await parts.state.openTaskId(taskId, call)
  const member = parts.members.get(opened.upstream)
  if (member === undefined) throw unknownError('task', taskId)
  return { member, params: { ...params, taskId: opened.taskId }, headerName: opened.taskId, taskId }
}

/** Sessions of the data layer name no upstream, so only one upstream can have them. */
async function findSessions(host: HostRequest): Promise<Target> {
  const { request, parts } = host
  const { _meta } = request.params ?? {}
  const discover = { ...request, method: 'server/discover', params: isJsonObject(_meta) ? { _meta } : {} }
  const members = Array.from(parts.members.values())
  const answers = await Promise.all(members.map((member) => askMember(member, { ...host, request: discover })))
  const [member, ...others] = members.filter((_, index) => hasSessions(answers[index]))
  if (member !== undefined && others.length === 0) return { member, params: request.params ?? {} }
  throw new McpError(
    errorCodes.methodNotFound,
    `Method ${quoteName(request.method)} needs exactly one upstream with it`,
  )
}

/** Returns true if an upstream has sessions of the data layer. */
export function hasSessions(answer: Awaited<ReturnType<typeof askMember>> | undefined): boolean {
  const capabilities = answer !== undefined && 'result' in answer ? answer.result['capabilities'] : undefined
  return isJsonObject(capabilities) && capabilities['sessions'] !== undefined
}

function rewriteSkillResult(result: JsonObject, upstream: string): JsonObject {
  const { skill } = result
  return isJsonObject(skill) ? { ...result, skill: rewriteSkill(skill, upstream) } : result
}

function findMember(
  decoded: Inner | undefined,
  { parts }: HostRequest,
): { readonly member: Member; readonly inner: string } | undefined {
  const member = decoded && parts.members.get(decoded.upstream)
  return member && { member, inner: decoded.inner }
}

function requireUri(uri: unknown, host: HostRequest): { readonly member: Member; readonly inner: string } {
  const target = findMember(decodeUri(String(uri)), host)
  if (target !== undefined) return target
  throw unknownError('resource', String(uri))
}

/** Creates the common error for a target that no upstream has, is not offered, or is withheld. */
function unknownError(kind: string, name: string): McpError {
  return new McpError(errorCodes.invalidParams, `Unknown ${kind} ${quoteName(name)}`)
}
