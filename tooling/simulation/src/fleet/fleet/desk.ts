import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { serveStdio } from '@x/transport-stdio'
import type { Host } from '../platform/virtual-time.ts'
import type { Fleet } from './fleet.ts'
import { createInstanceServer, type InstanceDeps } from './instance.ts'
import type { GatewayDeps } from './gateway.ts'

/** The time in milliseconds that a process takes to start. */
const startMs = 300

/** Starts a server on the standard streams of a new process, as `spawn` does for a gateway. */
export function spawnDesk(parent: Host, desks: Fleet, deps: InstanceDeps & GatewayDeps): ChildProcess {
  const { time, network, trace } = deps
  const host = desks.addHost()
  trace.add(parent.name, `starts ${host.name}`)
  const [pipe, stdio] = network.pipe(parent, host)
  const end: { code: number | null; signal: NodeJS.Signals | null } = { code: null, signal: 'SIGKILL' }
  let terminate = (): void => time.remove(host)
  const child = Object.assign(new EventEmitter(), {
    pid: 1,
    stdin: pipe,
    stdout: pipe,
    stderr: null,
    exitCode: null,
    signalCode: null,
    kill: (signal: string) => (signal === 'SIGKILL' ? time.remove(host) : time.schedule(host, 0, terminate)),
  })
  host.onRemoved.push(() => {
    stdio.destroy()
    time.schedule(parent, 0, () => {
      Object.assign(child, { exitCode: end.code, signalCode: end.signal })
      child.emit('exit', end.code, end.signal)
      child.emit('close', end.code, end.signal)
    })
  })
  time.schedule(host, startMs, () => {
    const server = createInstanceServer(host, 1, deps)
    const service = serveStdio(server, { input: stdio, output: stdio })
    terminate = () => void service.close()
    desks.add({ host, server, close: () => service.close() })
    void service.closed.then(() => {
      Object.assign(end, { code: 0, signal: null })
      time.remove(host)
    })
  })
  time.schedule(parent, 0, () => child.emit('spawn'))
  // It has the members of a child process that the transport uses.
  return child as unknown as ChildProcess
}
