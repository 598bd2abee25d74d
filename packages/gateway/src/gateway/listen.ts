import {
  computeBackoffMs,
  errorRecord,
  isCancelled,
  offCancel,
  onCancel,
  openAbortScope,
  raceWithCancellation,
  settlesWithin,
  sleep,
} from '@x/core'
import { type Call, callerKeyOf } from '@x/exchange'
import { errorCodes, type RpcNotification, type RpcResponse } from '@x/schema'
import { ChangeStream } from './change-stream.ts'
import { listTimeoutMs, type Upstream } from '../upstream/upstream.ts'
import type { HostRequest } from './host-request.ts'
import { parseRequested } from './requested-changes.ts'
import { endOfStream } from './route-call.ts'

const reopenBounds = { firstMs: 1000, maxMs: 30_000 }

/** Serves `subscriptions/listen`: a stream of each upstream, and one acknowledgement for all of them. */
export async function listenToUpstreams(host: HostRequest): Promise<RpcResponse> {
  const { request, call, parts } = host
  const { ledger, runtime, closed } = parts
  const requested = await parseRequested(host)
  const release = ledger.take('streams', callerKeyOf(call))
  const scope = openAbortScope(call.signal)
  const stream = new ChangeStream(requested, host)
  const upstreams = Array.from(parts.upstreams.values())
  const removals = upstreams.map(({ states }) => states.onListsChange(() => stream.changeLists()))
  try {
    const opened = upstreams.map((upstream) => {
      const { isSilent } = upstream
      const answered = new Promise<void>((resolve) => {
        void follow(upstream, { host, stream, signal: scope.signal, onAnswer: resolve }).then(resolve)
      })
      return isSilent ? undefined : answered
    })
    await settlesWithin(raceWithCancellation(Promise.all(opened), call), listTimeoutMs, runtime)
    if (isCancelled(call)) throw call.signal.reason
    stream.open()
    await waitForEnd(closed, call)
    return endOfStream(request)
  } finally {
    scope.stop(new DOMException('The host has ended its stream', 'AbortError'))
    scope.close()
    stream.close()
    for (const remove of removals) remove()
    release()
  }
}

/** Call `onAnswer` when an upstream has acknowledged its part, or has refused it. */
type Following = Readonly<{ host: HostRequest; stream: ChangeStream; signal: AbortSignal; onAnswer: () => void }>

/**
 * Keeps a stream to one upstream open. Returns for an upstream without subscriptions, and when the host's stream ends.
 * While the upstream is unreachable, the stream waits for the probe, and does not serve as one.
 */
async function follow(upstream: Upstream, following: Following): Promise<void> {
  const { host, stream, signal, onAnswer } = following
  const { runtime, closed } = host.parts
  let wasOpen = true
  for (let failures = 0; !signal.aborted && !closed.aborted; failures += 1) {
    const unreachableMs = await upstream.availability.check()
    let isOpen = false
    const onAcknowledged = (): void => {
      isOpen = true
      // Changes during the pause are unknown, so the host reads everything again.
      if (!wasOpen) stream.changeAll(upstream.name)
      wasOpen = true
      onAnswer()
    }
    if (unreachableMs === undefined && (await tryStream(upstream, following, onAcknowledged)) === 'unsupported')
      return stream.refuse(upstream.name)
    onAnswer()
    wasOpen = false
    if (isOpen) {
      failures = 0
      stream.changeLists()
    }
    const ms = unreachableMs ?? computeBackoffMs(failures, reopenBounds)
    await sleep(ms, { clock: runtime, signal, isBackground: true }).catch(() => {})
  }
}

async function tryStream(
  upstream: Upstream,
  following: Following,
  onAcknowledged: () => void,
): Promise<'ended' | 'unsupported'> {
  try {
    return await openStream(upstream, following, onAcknowledged)
  } catch (error) {
    const { host, signal } = following
    if (!signal.aborted) host.parts.log(errorRecord(error, { method: 'subscriptions/listen', name: upstream.name }))
    return 'ended'
  }
}

async function openStream(
  upstream: Upstream,
  { host, stream, signal }: Following,
  onAcknowledged: () => void,
): Promise<'ended' | 'unsupported'> {
  const { request, call, parts } = host
  const notifications = stream.filterOf(upstream.name)
  const credential = await upstream.findCredential(request, call)
  // This caller must log in first. It lists the tools again after that, and opens another stream.
  if ('loginUrl' in credential) return 'unsupported'
  const { principal, context } = call
  const notify = (message: RpcNotification): void => {
    if (message.method === 'notifications/subscriptions/acknowledged') {
      stream.acknowledge(upstream.name, message)
      onAcknowledged()
    } else stream.receive(upstream.name, message)
  }
  const params = { ...request.params, notifications }
  const response = await upstream.exchange({ ...request, params }, { principal, context, signal, notify }, credential)
  if (!('error' in response)) return 'ended'
  const { code, message } = response.error
  if (code === errorCodes.methodNotFound) return 'unsupported'
  parts.log({ level: 'warn', code: 'subscription_refused', name: upstream.name, message })
  return 'ended'
}

/** Resolves when the gateway closes, or the call is cancelled: a server that stops ends its streams with a result. */
async function waitForEnd(closed: AbortSignal, call: Call): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      offCancel(closed, end)
      offCancel(call, end)
      resolve()
    }
    onCancel(closed, end)
    onCancel(call, end)
  })
}
