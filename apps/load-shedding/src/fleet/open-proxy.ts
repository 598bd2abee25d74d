import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Balancer, type BalancerOptions, builtArguments } from './balancer.ts'
import { freePort, freePorts } from './free-port.ts'
import { findProgram, startProxy } from './proxy-process.ts'

/** The folder of the configuration files. The relative path is the same from `src` and from `dist`. */
const balancers = fileURLToPath(new URL('../../balancers', import.meta.url))

/** The differences between proxies. */
interface ProxyAdapter {
  readonly file: string
  readonly noticeMs: number
  parameters(folder: string, config: string): readonly string[]
  values(ports: readonly number[]): Readonly<Record<string, string>>
  /** `true` for a proxy without health checks, whose configuration must list the ready instances. */
  readonly needsReadyLanes: boolean
}

const nginx: ProxyAdapter = {
  file: 'nginx.conf',
  // After a reload, new worker processes accept connections and old ones forward their last requests within this time.
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
  // The time of ten health checks, because an overloaded instance responds late to the first of them.
  noticeMs: 1_000,
  parameters: (_, config) => ['-db', '-f', config],
  values: (ports) => ({
    servers: ports.map((port, lane) => `  server instance${lane + 1} 127.0.0.1:${port} check`).join('\n'),
    spares: ports.map((port, lane) => `  server spare${lane + 1} 127.0.0.1:${port} backup`).join('\n'),
  }),
  needsReadyLanes: false,
}

/** Starts nginx in front of instances that listen on a port each. Throws a `UsageError` if nginx is not installed. */
export function openNginx(options: BalancerOptions): Promise<Balancer> {
  return openProxy(findProgram('nginx'), nginx, options)
}

/** Starts HAProxy in front of instances that listen on a port each. Throws a `UsageError` if it is not installed. */
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

/** Replaces each `{{name}}` of a template by its value. Throws an `Error` for a name without a value. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    if (Object.hasOwn(values, name)) return values[name] ?? ''
    throw new Error(`the configuration template contains {{${name}}}, which has no value`)
  })
}
