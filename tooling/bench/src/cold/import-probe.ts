// Runs in the folder of an install: imports what it is told, one after the other, and prints how many milliseconds each
// took. What a package imports itself has to stand before it, or counts as its own.
const times: [string, number][] = [['node', performance.now()]]
for (const specifier of process.argv.slice(2)) {
  const started = performance.now()
  await import(specifier)
  times.push([specifier, performance.now() - started])
}
process.stdout.write(JSON.stringify(times))
