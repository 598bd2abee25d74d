import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The programs that some tests run against: the names of each, and the Debian package that installs it.
 * @type {ReadonlyMap<string, { names: readonly string[], install: string }>}
 */
export const programs = new Map([
  ['redis', { names: ['redis-server', 'valkey-server'], install: 'redis-server' }],
  ['haproxy', { names: ['haproxy'], install: 'haproxy' }],
  ['nginx', { names: ['nginx'], install: 'nginx' }],
  ['caddy', { names: ['caddy'], install: 'caddy' }],
  ['systemd', { names: ['systemd-analyze'], install: 'systemd' }],
  [
    'chromium',
    { names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'], install: 'chromium' },
  ],
])

/**
 * Finds the path of a program. Debian installs servers in folders that are not on the PATH of an ordinary user.
 * @param {string} need
 * @returns {string | undefined}
 */
export function findProgram(need) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin']
  const names = programs.get(need)?.names ?? []
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
