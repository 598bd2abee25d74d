import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/** Something that spreads connections over instances. */
export interface Balancer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Listens on one port of this machine and passes each connection on, byte by byte, to that of the ports which `targets`
 * gives whose last turn is longest ago. One that cannot be reached is passed over, so an instance that has just died
 * costs nobody anything.
 *
 * Node's own cluster hands connections to its workers instead. One that is on its way to a worker which is being killed
 * is then neither answered nor closed, and its client waits in vain.
 *
 * Throws a `UsageError` when the port is not to be had; 0 picks a free one.
 */
export async function startBalancer(wanted: number, targets: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>()
  const lastTurns = new Map<number, number>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    const lastTurn = (port: number) => lastTurns.get(port) ?? 0
    const ports = targets().toSorted((a, b) => lastTurn(a) - lastTurn(b))
    const [first] = ports
    if (first !== undefined) lastTurns.set(first, ++turn)
    passOn(socket, ports)
  })
  const port = await listen(server, wanted)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return { port, close }
}

/** Joins a connection to the first of the ports that takes it; closes it when none does. */
function passOn(client: Socket, ports: readonly number[]): void {
  const [port, ...others] = ports
  if (port === undefined || client.destroyed) {
    client.destroy()
    return
  }
  const instance = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const tryOthers = () => passOn(client, others)
  instance.once('error', tryOthers)
  instance.once('connect', () => {
    instance.off('error', tryOthers)
    join(client, instance)
  })
}

function join(client: Socket, instance: Socket): void {
  client.setNoDelay(true)
  pour(client, instance)
  pour(instance, client)
}

/** Pipes each socket into the other, and its end too: an orderly one after the last byte, an error at once. */
function pour(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => {})
  from.once('close', (failed) => {
    if (failed) to.destroy()
    else to.end()
  })
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    throw portRefusal(error, port)
  }
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : port
}
