import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '@tooling/real-servers/free-port'

export { findFreePort }

/** The backends of a proxy and its non-default settings. */
export interface ProxySetup {
  /** The ports of the backends. Requests are distributed in turn. */
  readonly ports: readonly number[]
  /** The header whose value selects the instance. The default is round robin. */
  readonly hashHeader?: string | undefined
  /** The idle timeout of a connection, in milliseconds. The default is that of the proxy. */
  readonly idleMs?: number | undefined
  /**
   * The interval of health checks of HAProxy, in milliseconds. With it, the ready instance with the fewest connections
   * is chosen.
   */
  readonly checkMs?: number | undefined
  /** Additional directives: of the location for nginx, of the backend for HAProxy. */
  readonly directives?: string | undefined
  /** True if HAProxy sends a request to the next instance after a refused connection. */
  readonly redispatches?: boolean | undefined
}

/** A proxy that its disposal stops. */
export interface Proxy extends AsyncDisposable {
  readonly url: string
}

/** The configuration and the command of one kind of proxy. */
export interface ProxyKind {
  /** The name of the program in `describeNeeding`. */
  readonly name: 'nginx' | 'haproxy' | 'caddy'
  readonly configure: (setup: ProxySetup, run: RunSettings) => string
  readonly parameters: (run: RunSettings) => readonly string[]
}

interface RunSettings {
  readonly folder: string
  readonly config: string
  readonly port: number
}

/**
 * nginx with the `http` block of Debian and a site that only proxies. Its files are in a temporary folder, because the
 * default folders require root.
 */
export const nginx: ProxyKind = {
  name: 'nginx',
  parameters: ({ folder, config }) => [
    '-p',
    folder,
    '-c',
    config,
    '-e',
    join(folder, 'error.log'),
    '-g',
    'daemon off;',
  ],
  configure: ({ ports, idleMs, hashHeader, directives = '' }, { folder, port }) => `
    user ${userInfo().username};
    worker_processes 1;
    pid ${folder}/nginx.pid;
    events { worker_connections 768; }
    http {
      sendfile on;
      tcp_nopush on;
      gzip on;
      access_log off;
      ${temporaryPathsIn(folder)}
      upstream mcp { ${hashHeader === undefined ? '' : `hash $http_${hashHeader.toLowerCase().replaceAll('-', '_')} consistent;`} ${ports.map((each) => `server 127.0.0.1:${each};`).join(' ')} }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://mcp;
          ${directives}
          ${idleMs === undefined ? '' : `proxy_read_timeout ${idleMs}ms; proxy_send_timeout ${idleMs}ms;`}
        }
      }
    }
  `,
}

const temporaryPathsIn = (folder: string): string =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')

const exampleText = (name: string): string =>
  readFileSync(new URL(`../../../examples/deploy/${name}`, import.meta.url), 'utf8')

/** nginx with the configuration of examples/deploy, with loopback ports instead of containers. */
export const folderNginx: ProxyKind = {
  ...nginx,
  configure: ({ ports: [one, two] }, { folder, port }) =>
    `user ${userInfo().username}; pid ${folder}/nginx.pid;\n${exampleText('nginx.conf')}`
      .replace('http {', `http { access_log off; ${temporaryPathsIn(folder)}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace(' one:3000', ` 127.0.0.1:${one}`)
      .replace(' two:3000', ` 127.0.0.1:${two}`),
}

const checkedBalance = `
  balance leastconn
  option httpchk
  http-check send meth GET uri /readyz hdr host 127.0.0.1
`

/** HAProxy with the configuration and the timeouts of Debian. */
export const haproxy: ProxyKind = {
  name: 'haproxy',
  parameters: ({ config }) => ['-db', '-f', config],
  configure: ({ ports, idleMs = 50_000, hashHeader, directives = '', checkMs, redispatches }, { port }) => `
defaults
  mode http
  option dontlognull
  timeout connect 5000
  timeout client ${idleMs}
  timeout server ${idleMs}
frontend clients
  bind 127.0.0.1:${port}
  default_backend mcp
backend mcp
  ${directives}
${hashHeader === undefined ? '' : `  balance hdr(${hashHeader})\n`}${redispatches === true ? '  option redispatch 1\n' : ''}${checkMs === undefined ? '' : checkedBalance}${ports.map((each, run) => `  server instance${run} 127.0.0.1:${each}${checkMs === undefined ? '' : ` check inter ${checkMs}ms fall 1 rise 1`}`).join('\n')}
`,
}

/** HAProxy with the configuration of examples/deploy, with loopback ports instead of containers. */
export const folderHaproxy: ProxyKind = {
  ...haproxy,
  configure: ({ ports: [one, two] }, { port }) =>
    exampleText('haproxy.cfg')
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replaceAll(' one:3000', ` 127.0.0.1:${one}`)
      .replaceAll(' two:3000', ` 127.0.0.1:${two}`),
}

/** nginx as {@link nginx}, with compression of every answer however small, which its default configuration limits. */
export const compressingNginx: ProxyKind = {
  ...nginx,
  configure: (setup, run) =>
    nginx
      .configure(setup, run)
      .replace('gzip on;', 'gzip on; gzip_types *; gzip_proxied any; gzip_min_length 0; gzip_http_version 1.0;'),
}

/** Caddy with compression. `directives` are those of `encode`. */
export const compressingCaddy: ProxyKind = {
  name: 'caddy',
  parameters: ({ config }) => ['run', '--adapter', 'caddyfile', '--config', config],
  configure: ({ ports, directives = '' }, { port }) => `
{
  admin off
}
http://127.0.0.1:${port} {
  encode gzip {
    minimum_length 1
    ${directives}
  }
  reverse_proxy ${ports.map((each) => `127.0.0.1:${each}`).join(' ')}
}
`,
}

/** Caddy with the configuration of examples/deploy, with loopback ports instead of containers, and without TLS. */
export const folderCaddy: ProxyKind = {
  ...compressingCaddy,
  configure: ({ ports: [one, two] }, { port }) =>
    `{\n  admin off\n}\n${exampleText('Caddyfile')}`
      .replace('mcp.example.com', `http://127.0.0.1:${port}`)
      .replace(' one:3000', ` 127.0.0.1:${one}`)
      .replace(' two:3000', ` 127.0.0.1:${two}`),
}

/** Starts a proxy and resolves when it accepts connections. */
export async function startProxy(program: string, kind: ProxyKind, setup: ProxySetup): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), `e2e-${kind.name}-`))
  const run = { folder, config: join(folder, 'proxy.conf'), port: await findFreePort() }
  await writeFile(run.config, kind.configure(setup, run))
  // Caddy keeps a copy of its configuration there.
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(program, kind.parameters(run), { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  // A test that exceeds its time limit never leaves its scope. The proxy then stops with the process.
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  await waitUntilListening(run.port, child).catch((cause: unknown) => {
    kill()
    process.off('exit', kill)
    throw new Error(`${kind.name} does not start: ${printed}`, { cause })
  })
  const dispose = async (): Promise<void> => {
    kill()
    process.off('exit', kill)
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  return { url: `http://127.0.0.1:${run.port}/mcp`, [Symbol.asyncDispose]: dispose }
}

/** Connects until a connection is accepted. Rejects if the process ends first. */
async function waitUntilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process has ended')
    const socket = connect(port, '127.0.0.1')
    const opened = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (opened) return
  }
}
