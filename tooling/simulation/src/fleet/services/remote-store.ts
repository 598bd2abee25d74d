import type { StateStore } from '@x/state-codec'
import type { MessageFault } from '../faults/faults.ts'
import { callRemote, type RemoteContext, type RemoteService } from './remote.ts'

/**
 * The faults of a call that stores the round of an older client. If the call rejects after its effect, two instances
 * continue the round: the one that stored it, and one that receives the answer. `@x/legacy` does not prevent that yet.
 */
const roundFaults: readonly MessageFault[] = ['lost', 'silent']

/** Returns the store of one instance, whose calls go over the network to the store that all instances share. */
export function remoteStore(context: RemoteContext, service: RemoteService, shared: StateStore): StateStore {
  const call = <T>(name: string, run: () => Promise<T>): Promise<T> => callRemote(context, service, { name, run })
  const { expire, forOwner } = shared
  return {
    add: (key, value, ttlMs) =>
      callRemote(context, service, {
        name: 'add',
        run: () => shared.add(key, value, ttlMs),
        ...(key.startsWith('legacy:call:') && { faultKinds: roundFaults }),
      }),
    get: (key) => call('get', () => shared.get(key)),
    delete: (key) => call('delete', () => shared.delete(key)),
    ...(expire !== undefined && { expire: (key, ttlMs) => call('expire', () => expire(key, ttlMs)) }),
    ...(forOwner !== undefined && { forOwner: (owner) => remoteStore(context, service, forOwner(owner)) }),
  }
}
