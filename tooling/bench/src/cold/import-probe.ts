// Runs in the folder of an install. Imports the packages of its arguments one after the other, and prints the
// milliseconds of each import. A dependency that is not listed before its package counts as part of the package.
const times: [string, number][] = [['node', performance.now()]]
for (const specifier of process.argv.slice(2)) {
  const started = performance.now()
  await import(specifier)
  times.push([specifier, performance.now() - started])
}
process.stdout.write(JSON.stringify(times))
