import { median } from '../median.ts'
import { type Round, sharesOf } from '../alternating-rounds.ts'
import type { InstalledProgram } from './install-programs.ts'

/** Milliseconds of CPU, by the name of the server. */
export type CpuRounds = readonly Round<number>[]

/** Formats a Markdown table with the install, the start and the call of each server. */
export function peerRows(
  programs: readonly Pick<InstalledProgram, 'name' | 'revision' | 'size'>[],
  { starts, calls }: { readonly starts: CpuRounds; readonly calls: CpuRounds },
): readonly string[] {
  return [
    '| server | revision | installed | CPU to the first answer | CPU of a call |',
    '| --- | --- | --- | --- | --- |',
    ...programs.map(({ name, revision, size }) => {
      const installed = `${size.packages.length} packages, ${(size.bytes / 1e6).toFixed(1)} MB`
      return `| ${name} | ${revision} | ${installed} | ${ofFloor(starts, name)} | ${ofFloor(calls, name)} |`
    }),
  ]
}

function ofFloor(rounds: CpuRounds, name: string): string {
  const shares = sharesOf(rounds, { name, base: 'floor', of: (cpu) => cpu })
  return `${median(shares).toFixed(2)} (${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)})`
}
