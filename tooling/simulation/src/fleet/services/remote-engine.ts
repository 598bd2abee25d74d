import type { ChangeBus } from '@x/core'
import type { EngineListener, TaskEngine } from '@x/tasks'
import { callRemote, type RemoteContext, type RemoteService } from './remote.ts'

/** The share of notifications of an engine that are lost. A lost one only causes a delay. */
const lostNotificationShare = 0.05

/** Returns the engine of one instance, which calls the shared engine over the network. */
export function remoteEngine(
  context: RemoteContext,
  service: RemoteService,
  { shared, bus }: { readonly shared: TaskEngine; readonly bus: ChangeBus },
): TaskEngine {
  const bind =
    (isUnlimited: boolean) =>
    <Args extends readonly unknown[], T>(name: string, run: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> => {
      const copy = structuredClone(args)
      return callRemote(context, service, { name, run: () => run(...copy), isUnlimited })
    }
  const call = bind(false)
  // The worker has its own time limit for each of these calls.
  const workerCall = bind(true)
  return {
    leaseMs: shared.leaseMs,
    notifications: bus,
    create: call('create', shared.create),
    get: call('get', shared.get),
    answer: call('answer', shared.answer),
    cancel: call('cancel', shared.cancel),
    claim: workerCall('claim', shared.claim),
    listDue: workerCall('listDue', shared.listDue),
    heartbeat: workerCall('heartbeat', shared.heartbeat),
    record: workerCall('record', shared.record),
    suspend: workerCall('suspend', shared.suspend),
    release: workerCall('release', shared.release),
    finish: workerCall('finish', shared.finish),
    deleteExpiredTasks: workerCall('deleteExpiredTasks', shared.deleteExpiredTasks),
    listen: (listener) => listenRemotely(context, service, { shared, listener }),
    inspect: call('inspect', shared.inspect),
    revoke: call('revoke', shared.revoke),
    list: call('list', shared.list),
    count: call('count', shared.count),
    ping: call('ping', shared.ping),
    close: async () => {},
  }
}

async function listenRemotely(
  context: RemoteContext,
  service: RemoteService,
  { shared, listener }: { readonly shared: TaskEngine; readonly listener: EngineListener },
): Promise<() => void> {
  const { time, faults } = context
  const host = time.currentHost
  const forward = (run: () => void): void => {
    const isLost = service.availability !== 'available' || (faults.isActive && faults.random() < lostNotificationShare)
    if (!isLost) time.schedule(host, faults.delayMs(), run)
  }
  let stop = (): void => {}
  let isStopped = false
  await callRemote(context, service, {
    name: 'listen',
    isUnlimited: true,
    run: async () => {
      stop = await shared.listen({
        onWork: () => forward(() => isStopped || listener.onWork()),
        onCancel: (id) => forward(() => isStopped || listener.onCancel(id)),
      })
    },
  })
  return () => {
    isStopped = true
    stop()
  }
}
