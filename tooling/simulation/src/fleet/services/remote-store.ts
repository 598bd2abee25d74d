import type { StateStore } from '@x/state-codec'
import { callRemote, type RemoteContext, type RemoteService } from './remote.ts'

/** Returns the store of one instance, which calls the shared store over the network. */
export function remoteStore(context: RemoteContext, service: RemoteService, shared: StateStore): StateStore {
  const call = <T>(name: string, run: () => Promise<T>): Promise<T> => callRemote(context, service, { name, run })
  const { expire, forOwner } = shared
  return {
    add: (key, value, ttlMs) => call('add', () => shared.add(key, value, ttlMs)),
    get: (key) => call('get', () => shared.get(key)),
    delete: (key) => call('delete', () => shared.delete(key)),
    ...(expire !== undefined && { expire: (key, ttlMs) => call('expire', () => expire(key, ttlMs)) }),
    ...(forOwner !== undefined && { forOwner: (owner) => remoteStore(context, service, forOwner(owner)) }),
  }
}
