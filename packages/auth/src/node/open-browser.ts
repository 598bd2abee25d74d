import { spawn } from 'node:child_process'
import { isSecureUrl } from '../secure-url.ts'

/**
 * Opens an https address, or one of this machine, in the person's browser. The address is one argument of a program,
 * and no shell reads it. Rejects when there is no such program. Throws a `TypeError` for an address of another kind.
 */
export async function openBrowser(url: URL): Promise<void> {
  if (!isSecureUrl(url)) {
    throw new TypeError(`Only https addresses are opened, not ${url.protocol}`)
  }
  const [program, ...args] = openCommands[process.platform] ?? ['xdg-open']
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true, shell: false })
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}

const openCommands: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
