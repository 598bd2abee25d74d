import { isJsonObject, type JsonObject, quoteText } from '@x/core'
import { errorCodes, McpError } from '@x/schema'
import { findInnerName, findUpstreamTool, hasAcceptedDefinition } from './find-item.ts'
import { createLoginTool } from './login.ts'
import { loginTool } from '../upstream/tool-rules.ts'
import { isAway, type Upstream, type UpstreamAnswer } from '../upstream/upstream.ts'
import type { HostRequest } from './host-request.ts'
import { createRelatedRequest } from '../hop/host-identity.ts'
import { decodeName, isToolName, type PrefixedName } from '../names/names.ts'
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
  readonly upstream: Upstream
  readonly params: JsonObject
  /** True for the gateway's own tool, which no upstream receives. */
  readonly isLogin?: boolean | undefined
  /** A task's id as the host knows it. Absent for other methods. */
  readonly taskId?: string | undefined
}

/** A method whose requests reach one upstream. */
export interface Route {
  /** Finds the upstream. Rejects with an `McpError` for a target that no upstream has. */
  readonly find: (host: HostRequest) => Promise<Target>
  /** For the complete result. */
  readonly rewrite: Rewrite
}

const keep: Rewrite = (result) => result

/** Methods whose requests reach one upstream. */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['tools/call', { find: findTool, rewrite: rewriteContent }],
  ['prompts/get', { find: findPrompt, rewrite: rewriteMessages }],
  ['resources/read', { find: findUri, rewrite: rewriteContents }],
  ['completion/complete', { find: findReference, rewrite: keep }],
  ['tasks/get', { find: findTaskTarget, rewrite: rewriteTask }],
  ['tasks/update', { find: findTaskTarget, rewrite: keep }],
  ['tasks/cancel', { find: findTaskTarget, rewrite: keep }],
  ['skills/get', { find: findUri, rewrite: rewriteSkillResult }],
  ['resources/directory/read', { find: findUri, rewrite: rewriteResources }],
  ['sessions/create', { find: findSessions, rewrite: keep }],
  ['sessions/delete', { find: findSessions, rewrite: keep }],
])

async function findTool(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const name = String(params['name'])
  const target = findUpstream(decodeName(name), host)
  if (target !== undefined) {
    const { upstream, inner } = target
    if (upstream.credential !== undefined && inner === loginTool) return { upstream, params, isLogin: true }
    const tool = upstream.toolNames.toolOf(await findInnerName({ inner, name }, { upstream, items: 'tools' }, host))
    if (tool !== undefined && (await hasAcceptedDefinition(upstream, tool, host)))
      return { upstream, params: { ...params, name: tool } }
  }
  throw unknownError('tool', name)
}

/**
 * Finds the tool that a call names, as its upstream lists it. Rejects with an `McpError` for one that it does not list.
 */
export async function findListedTool(host: HostRequest): Promise<JsonObject> {
  const { upstream, params, isLogin } = await findTool(host)
  if (isLogin === true) return createLoginTool(upstream.name)
  const listed = await findUpstreamTool(upstream, String(params['name']), host)
  if (listed === undefined) throw unknownError('tool', String(host.request.params?.['name']))
  return { ...listed, name: String(host.request.params?.['name']) }
}

async function findPrompt(host: HostRequest, params = host.request.params ?? {}): Promise<Target> {
  const name = String(params['name'])
  const target = findUpstream(decodeName(name), host)
  if (target === undefined) throw unknownError('prompt', name)
  const { upstream, inner } = target
  const innerName = await findInnerName({ inner, name }, { upstream, items: 'prompts' }, host)
  if (!isToolName(innerName)) throw unknownError('prompt', name)
  return { upstream, params: { ...params, name: innerName } }
}

async function findUri(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const { upstream, inner } = requireUpstreamUri(params['uri'], host)
  return { upstream, params: { ...params, uri: inner } }
}

async function findReference(host: HostRequest): Promise<Target> {
  const { params = {} } = host.request
  const { ref } = params
  if (!isJsonObject(ref)) throw new McpError(errorCodes.invalidParams, 'params.ref must be an object')
  if (ref['uri'] === undefined) {
    const { upstream, params: prompt } = await findPrompt(host, ref)
    return { upstream, params: { ...params, ref: prompt } }
  }
  const { upstream, inner } = requireUpstreamUri(ref['uri'], host)
  return { upstream, params: { ...params, ref: { ...ref, uri: inner } } }
}

async function findTaskTarget({ request, call, parts }: HostRequest): Promise<Target> {
  const { params = {} } = request
  const taskId = String(params['taskId'])
  const opened = await parts.state.openTaskId(taskId, call)
  const upstream = parts.upstreams.get(opened.upstream)
  if (upstream === undefined) throw unknownError('task', taskId)
  return { upstream, params: { ...params, taskId: opened.taskId }, taskId }
}

/** Sessions of the data layer name no upstream, so only one upstream can have them. */
async function findSessions({ request, call, parts }: HostRequest): Promise<Target> {
  const discover = createRelatedRequest(request, 'server/discover')
  const upstreams = Array.from(parts.upstreams.values())
  const answers = await Promise.all(upstreams.map((upstream) => upstream.ask(discover, call)))
  const [upstream, ...others] = upstreams.filter((_, index) => hasSessions(answers[index]))
  if (upstream !== undefined && others.length === 0) return { upstream, params: request.params ?? {} }
  const [away] = upstreams.filter((_, index) => isAway(answers[index]))
  if (upstream === undefined && away !== undefined) throw await away.createMissingListError()
  throw new McpError(
    errorCodes.methodNotFound,
    `Method ${quoteText(request.method)} needs exactly one upstream with it`,
  )
}

/** True if an upstream has sessions of the data layer. */
export function hasSessions(answer: UpstreamAnswer | undefined): boolean {
  const capabilities = answer !== undefined && 'result' in answer ? answer.result['capabilities'] : undefined
  return isJsonObject(capabilities) && capabilities['sessions'] !== undefined
}

function rewriteSkillResult(result: JsonObject, upstream: string): JsonObject {
  const { skill } = result
  return isJsonObject(skill) ? { ...result, skill: rewriteSkill(skill, upstream) } : result
}

function findUpstream(
  decoded: PrefixedName | undefined,
  { parts }: HostRequest,
): { readonly upstream: Upstream; readonly inner: string } | undefined {
  const upstream = decoded && parts.upstreams.get(decoded.upstream)
  return upstream && { upstream, inner: decoded.inner }
}

function requireUpstreamUri(uri: unknown, host: HostRequest): { readonly upstream: Upstream; readonly inner: string } {
  const target = findUpstream(decodeUri(String(uri)), host)
  if (target !== undefined) return target
  throw unknownError('resource', String(uri))
}

/** For a target that no upstream receives, be it of no upstream, not offered or withheld: a host cannot tell which. */
function unknownError(kind: string, name: string): McpError {
  return new McpError(errorCodes.invalidParams, `Unknown ${kind} ${quoteText(name)}`, { data: { begun: false } })
}
