import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds the root package.json. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs the pnpm that the root package.json pins, in the root folder. Resolves to its exit code. With `quiet` its output
 * is shown only if it fails, and `onOutput` receives it as it comes. An aborted signal kills it.
 *
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, quiet?: boolean, signal?: AbortSignal, onOutput?: (text: string) => void }} [options]
 * @returns {Promise<number>}
 */
export async function pnpm(args, options = {}) {
  const [command, ...first] = findPnpm()
  const child = spawn(command, [...first, ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: options.quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    windowsHide: true,
  })
  const chunks = []
  child.stdout?.on('data', (chunk) => chunks.push(chunk))
  child.stderr?.on('data', (chunk) => chunks.push(chunk))
  child.stdout?.on('data', (chunk) => options.onOutput?.(String(chunk)))
  options.signal?.addEventListener('abort', () => child.kill())
  const code = await exitCode(child)
  if (code !== 0) process.stderr.write(Buffer.concat(chunks))
  return code
}

/**
 * Resolves to the exit code of a process, or to 1 if a signal ended it.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
export function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

let found

/** Returns the command that runs the pinned pnpm, as a list of words. */
function findPnpm() {
  found ??= fromCaller() ?? fromPath() ?? fromNpm()
  return found
}

/** Returns the pinned version, without a hash after it. */
function pinnedVersion() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const match = /^pnpm@(\d+\.\d+\.\d+[^+]*)/.exec(manifest.packageManager ?? '')
  if (match === null) throw new Error('package.json must name pnpm and its version in "packageManager"')
  return match[1]
}

/** Returns the pnpm that runs this script, if it has the pinned version. */
function fromCaller() {
  const path = process.env.npm_execpath ?? ''
  const agent = process.env.npm_config_user_agent ?? ''
  if (!basename(path).startsWith('pnpm') || !agent.startsWith(`pnpm/${pinnedVersion()} `)) return undefined
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path]
}

/**
 * Returns the pnpm on the PATH, if it has the pinned version. On Windows only an executable file can be started without
 * a shell.
 */
function fromPath() {
  const command = process.platform === 'win32' ? 'pnpm.exe' : 'pnpm'
  const result = spawnSync(command, ['--version'], {
    // In the root folder, or without these settings, pnpm downloads the pinned version and returns that one.
    cwd: tmpdir(),
    env: { ...process.env, npm_config_manage_package_manager_versions: 'false', COREPACK_ENABLE_NETWORK: '0' },
    encoding: 'utf8',
    windowsHide: true,
  })
  return result.status === 0 && result.stdout.trim() === pinnedVersion() ? [command] : undefined
}

/** Returns a command of npm, which is installed with Node and runs any version of pnpm. */
function fromNpm() {
  return [...findNpm(), 'exec', '--yes', `--package=pnpm@${pinnedVersion()}`, '--', 'pnpm']
}

/** Returns the script of npm, because `npm.cmd` requires a shell. */
function findNpm() {
  const nodeFolder = dirname(process.execPath)
  const candidates = [
    process.env.npm_execpath ?? '',
    join(nodeFolder, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(nodeFolder, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const file = candidates.find((path) => basename(path) === 'npm-cli.js' && existsSync(path))
  return file === undefined ? ['npm'] : [process.execPath, file]
}
