import { readdir, readFile } from 'node:fs/promises'

/** Returns the ids of the processes whose command line contains one of the paths. */
export async function processesOf(...paths: readonly string[]): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return ids.map(Number).filter((_, index) => paths.some((path) => commands[index]?.includes(path)))
}
