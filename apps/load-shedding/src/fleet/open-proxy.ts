import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Balancer, type BalancerOptions, builtArguments } from './balancer.ts'
import { freePort, freePorts } from './free-port.ts'
import { findProgram, startProxy } from './proxy-process.ts'

/** The folder of the configuration files; it is as far from the source as from the build. */
const balancers = fileURLToPath(new URL('../../balancers', import.meta.url))

/** The differences between proxies. */
interface ProxyAdapter {
  readonly file: string
  readonly noticeMs: number
  parameters(folder: string, config: string): readonly string[]
  values(ports: readonly number[]): Readonly<Record<string, string>>
  /** `true` when it needs a list of instances, because it does not check their health. */
  readonly needsReadyLanes: boolean
}

const nginx: ProxyAdapter = {
  file: 'nginx.conf',
  // New workers take over within this time, and the old ones have sent what they had.
  noticeMs: 1_000,
  parameters: (folder, config) => ['-p', folder, '-c', config, '-e', join(folder, 'error.log'), '-g', 'daemon off;'],
  values: (ports) => ({
    user: process.getuid?.() === 0 ? `user ${userInfo().username};` : '',
    servers: (ports.length > 0 ? ports : [9]).map((port) => `server 127.0.0.1:${port};`).join(' '),
  }),
  needsReadyLanes: true,
}

const haproxy: ProxyAdapter = {
  file: 'haproxy.cfg',
  // Ten checks, because an overloaded instance answers the first of them late.
  noticeMs: 1_000,
  parameters: (_, config) => ['-db', '-f', config],
  values: (ports) => ({
    servers: ports.map((port, lane) => `  server instance${lane + 1} 127.0.0.1:${port} check`).join('\n'),
    spares: ports.map((port, lane) => `  server spare${lane + 1} 127.0.0.1:${port} backup`).join('\n'),
  }),
  needsReadyLanes: false,
}

/** Nginx, with instances on ports of their own. Throws a `UsageError` where it is not installed. */
export function openNginx(options: BalancerOptions): Promise<Balancer> {
  return openProxy(findProgram('nginx'), nginx, options)
}

/** HAProxy, with instances on ports of their own. Throws a `UsageError` where it is not installed. */
export function openHaproxy(options: BalancerOptions): Promise<Balancer> {
  return openProxy(findProgram('haproxy'), haproxy, options)
}

async function openProxy(
  program: string,
  proxyAdapter: ProxyAdapter,
  { port: requestedPort, lanes, module }: BalancerOptions,
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'load-shedding-'))
  const ports = await freePorts(lanes)
  const port = await freePort(requestedPort)
  const config = join(folder, proxyAdapter.file)
  const template = readFileSync(join(balancers, proxyAdapter.file), 'utf8')
  const configure = (readyPorts: readonly number[]): void => {
    writeFileSync(config, fillTemplate(template, { folder, port: String(port), ...proxyAdapter.values(readyPorts) }))
  }
  configure(ports)
  const proxy = await startProxy(program, proxyAdapter.parameters(folder, config), port)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    noticeMs: proxyAdapter.noticeMs,
    start(lane, environment) {
      const env = { ...process.env, ...environment, PORT: String(ports[lane]) }
      return fork(module, [], { env, execArgv: [...builtArguments] })
    },
    setReadyLanes(readyLanes) {
      if (!proxyAdapter.needsReadyLanes) return
      configure(readyLanes.flatMap((lane) => ports[lane] ?? []))
      proxy.signal('SIGHUP')
    },
    async stop() {
      await proxy.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The text with each `{{name}}` replaced. Throws an `Error` for a name without a value. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    if (Object.hasOwn(values, name)) return values[name] ?? ''
    throw new Error(`the configuration names {{${name}}}, for which there is no value`)
  })
}
