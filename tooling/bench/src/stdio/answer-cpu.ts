/** Tells the benchmark, over the channel beside the pipes, how much CPU this process has used, in microseconds. */
export function answerCpu(): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
}
