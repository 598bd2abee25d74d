import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Balancer, type BalancerSetup, builtArguments } from './balancer.ts'
import { freePort, freePorts } from './free-port.ts'
import { findProgram, startProxy } from './proxy-process.ts'

/** The folder of the configuration files; it is as far from the source as from the build. */
const balancers = fileURLToPath(new URL('../../balancers', import.meta.url))

/** The differences between proxies. */
interface ProxyKind {
  readonly file: string
  readonly noticeMs: number
  parameters(folder: string, config: string): readonly string[]
  values(ports: readonly number[]): Readonly<Record<string, string>>
  /** `true` when it needs a list of instances, because it does not check their health. */
  readonly isTold: boolean
}

const nginx: ProxyKind = {
  file: 'nginx.conf',
  // New workers take over within this time, and the old ones have sent what they had.
  noticeMs: 1_000,
  parameters: (folder, config) => ['-p', folder, '-c', config, '-e', join(folder, 'error.log'), '-g', 'daemon off;'],
  values: (ports) => ({
    user: process.getuid?.() === 0 ? `user ${userInfo().username};` : '',
    servers: (ports.length > 0 ? ports : [9]).map((port) => `server 127.0.0.1:${port};`).join(' '),
  }),
  isTold: true,
}

const haproxy: ProxyKind = {
  file: 'haproxy.cfg',
  // Ten checks, because an overloaded instance answers the first of them late.
  noticeMs: 1_000,
  parameters: (_, config) => ['-db', '-f', config],
  values: (ports) => ({
    servers: ports.map((port, lane) => `  server instance${lane + 1} 127.0.0.1:${port} check`).join('\n'),
    spares: ports.map((port, lane) => `  server spare${lane + 1} 127.0.0.1:${port} backup`).join('\n'),
  }),
  isTold: false,
}

/** Nginx, with instances on ports of their own. Throws a `UsageError` where it is not installed. */
export function openNginx(setup: BalancerSetup): Promise<Balancer> {
  return openProxy(findProgram('nginx'), nginx, setup)
}

/** HAProxy, with instances on ports of their own. Throws a `UsageError` where it is not installed. */
export function openHaproxy(setup: BalancerSetup): Promise<Balancer> {
  return openProxy(findProgram('haproxy'), haproxy, setup)
}

async function openProxy(
  program: string,
  kind: ProxyKind,
  { port: wanted, lanes, module }: BalancerSetup,
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'load-shedding-'))
  const ports = await freePorts(lanes)
  const port = await freePort(wanted)
  const config = join(folder, kind.file)
  const template = readFileSync(join(balancers, kind.file), 'utf8')
  const configure = (offered: readonly number[]): void => {
    writeFileSync(config, fillIn(template, { folder, port: String(port), ...kind.values(offered) }))
  }
  configure(ports)
  const proxy = await startProxy(program, kind.parameters(folder, config), port)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    noticeMs: kind.noticeMs,
    start(lane, environment) {
      const env = { ...process.env, ...environment, PORT: String(ports[lane]) }
      return fork(module, [], { env, execArgv: [...builtArguments] })
    },
    offer(offered) {
      if (!kind.isTold) return
      configure(offered.flatMap((lane) => ports[lane] ?? []))
      proxy.signal('SIGHUP')
    },
    async stop() {
      await proxy.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The text with each `{{name}}` replaced. Throws an `Error` for a name without a value. */
export function fillIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    if (Object.hasOwn(values, name)) return values[name] ?? ''
    throw new Error(`the configuration names {{${name}}}, for which there is no value`)
  })
}
