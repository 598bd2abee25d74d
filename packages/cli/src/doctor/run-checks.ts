import { type CheckId, checkIds, type Finding, type RpcProbe, skipped, type Target } from './check.ts'
import { checkAuth } from './check-auth.ts'
import { checkHealth, checkRounds } from './check-deployment.ts'
import { checkCors, checkDepth, checkHost, checkMedia, checkOrigin, checkSize } from './check-guards.ts'
import { checkLists, checkUnknownMethod, checkUnknownTool } from './check-methods.ts'
import { checkDiscover, checkHeaders, checkOwnHost, checkProbeShape, checkReach, isReached } from './check-revision.ts'
import { checkKeepAlive, checkStreams } from './check-streams.ts'
import { resultOf } from './http-probe.ts'
import { discoverProbe, initializeProbe, sendRpc } from './rpc-probe.ts'

/** Address of a server, and what the checks may use. */
export type DoctorOptions = Pick<Target, 'url' | 'send' | 'signal'> & Partial<Pick<Target, 'token' | 'tool'>>

type Check = (target: Target) => Finding | Promise<Finding>

/** Each sends one request after the other. The checks of streams mostly wait, and run beside these. */
const checks: Readonly<Record<Exclude<CheckId, 'stream' | 'heartbeat'>, Check>> = {
  reach: checkReach,
  'own-host': checkOwnHost,
  auth: checkAuth,
  headers: checkHeaders,
  discover: checkDiscover,
  'probe-shape': checkProbeShape,
  host: checkHost,
  origin: checkOrigin,
  cors: checkCors,
  media: checkMedia,
  size: checkSize,
  depth: checkDepth,
  lists: checkLists,
  'unknown-method': checkUnknownMethod,
  'unknown-tool': checkUnknownTool,
  'keep-alive': checkKeepAlive,
  health: checkHealth,
  rounds: checkRounds,
}

/** Checks of what the messages contain. The others are about HTTP, or about the instances behind an address. */
const stdioChecks: ReadonlySet<CheckId> = new Set([
  'reach',
  'discover',
  'probe-shape',
  'lists',
  'unknown-method',
  'unknown-tool',
])

/** Calls `onFinding` with the result of each check, in the order of the list of ids. */
export async function runChecks(
  options: DoctorOptions,
  onFinding: (id: CheckId, finding: Finding) => void,
): Promise<void> {
  const target = await probeTarget(options)
  const streams = target.send === undefined ? checkStreams(target) : undefined
  for (const id of checkIds) {
    if (target.send !== undefined && !stdioChecks.has(id)) onFinding(id, skipped('Only for a server over HTTP.'))
    else if (id === 'stream' || id === 'heartbeat')
      onFinding(id, (await streams)?.[id] ?? skipped('There is no stream.'))
    else onFinding(id, await runCheck(checks[id], target))
  }
}

async function runCheck(check: Check, target: Target): Promise<Finding> {
  target.signal.throwIfAborted()
  if (check !== checkReach && !isReached(target)) return skipped('The endpoint cannot be reached.')
  return check(target)
}

/** Finds a request that the server serves: each check changes one part of it. */
async function probeTarget({ url, send, token, tool, signal }: DoctorOptions): Promise<Target> {
  const place = { url, send, token, signal }
  const discovered = await sendRpc(place, discoverProbe)
  return { ...place, tool, discovered, served: await findServedProbe() }

  async function findServedProbe(): Promise<RpcProbe | undefined> {
    if (resultOf(discovered) !== undefined) return discoverProbe
    if (discovered.status === 0 || discovered.status === 401) return undefined
    return resultOf(await sendRpc(place, initializeProbe)) === undefined ? undefined : initializeProbe
  }
}
