import { connect } from 'node:net'

// Joins its stdin and stdout to a Unix socket, so that a server of the test's own process is at the other end of a
// child's pipes.
const socket = connect(process.argv[2] ?? '')
process.stdin.pipe(socket).pipe(process.stdout)
