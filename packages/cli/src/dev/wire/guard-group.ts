import { spawn } from 'node:child_process'

/**
 * Ends a process group when this process ends, even by SIGKILL: on POSIX a shell waits for the end of a pipe that only
 * this process holds. The returned function stops it, once the group has ended.
 */
export function guardGroup(pid: number | undefined): () => void {
  if (process.platform === 'win32' || pid === undefined) return () => {}
  const script = 'read _; kill -s KILL -- "-$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.on('error', () => {})
  guard.unref()
  return () => void guard.kill('SIGKILL')
}
