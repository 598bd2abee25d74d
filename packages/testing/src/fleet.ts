import type { Server } from '@x/exchange'
import type { TrackedKit, ServerFactory, ServerKit } from './server-kit.ts'
import { TestingError } from './testing-error.ts'

/** Instances of one server. */
export interface Fleet<S extends Server> {
  readonly instances: readonly S[]
  /** Which instance answers the next request, with its number. */
  pickInstance(): { readonly instanceIndex: number; readonly server: S }
  /** Makes another instance, which answers all requests from now on. */
  restart(): S
  /** Throws {@link TestingError} if the test passed a server instead of a factory. */
  requireFactory(feature: string): ServerFactory<S>
  /** Closes the instances that the factory made. */
  close(): Promise<void>
}

/** `instanceCount` instances answer the requests in turn. A server as `target` is the only instance. */
export function createFleet<S extends Server>(
  target: S | ServerFactory<S>,
  { kit }: TrackedKit,
  instanceCount: number = 1,
): Fleet<S> {
  const isFactory = typeof target === 'function'
  const requireFactory = (feature: string): ServerFactory<S> => {
    if (isFactory) return target
    const reason = 'give it a factory instead of a server: (kit) => createServer({ ...definition, ...kit })'
    throw new TestingError('usage', `${feature} needs another instance: ${reason}`)
  }
  if (!(Number.isInteger(instanceCount) && instanceCount > 0)) {
    throw new TestingError('usage', `instances is ${instanceCount}; expected a whole number from 1`)
  }
  const firstInstance = isFactory ? makeServer(target, kit) : target
  const instances: S[] = [firstInstance]
  while (instances.length < instanceCount) instances.push(makeServer(requireFactory('instances'), kit))
  let numberedServers = instances.map((server, instanceIndex) => ({ server, instanceIndex }))
  let servedCount = 0
  return {
    instances,
    requireFactory,
    pickInstance: () =>
      numberedServers[servedCount++ % numberedServers.length] ?? { server: firstInstance, instanceIndex: 0 },
    restart: () => {
      const server = makeServer(requireFactory('restart'), kit)
      numberedServers = [{ server, instanceIndex: instances.length }]
      instances.push(server)
      return server
    },
    close: async () => {
      if (isFactory) await Promise.all(instances.map((instance) => instance.close()))
    },
  }
}

/** Checks what the factory made: without types, it may be an async function or an exchange. */
function makeServer<S extends Server>(factory: ServerFactory<S>, kit: ServerKit): S {
  const server = factory(kit)
  const madeServer: unknown = server
  if (typeof madeServer === 'object' && madeServer !== null && 'exchange' in madeServer) return server
  throw new TestingError(
    'usage',
    'The factory must return a server at once: (kit) => createServer({ ...definition, ...kit })',
  )
}
