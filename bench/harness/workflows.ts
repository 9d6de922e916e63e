/** A workflow that events of a topic trigger. Its step creates the file named by the event's `seq`. */
export function markWorkflow(name: string, topic: string, folder: string): string {
  return `
name: ${name}
triggers:
  - name: on-mark
    type: event
    topic: ${topic}
    input:
      seq: event_data.seq
steps:
  - name: mark
    type: bash
    command: touch ${folder}/{{seq}}
`;
}

/** A workflow of `count` sequential steps. */
export function sequence(name: string, count: number, step: string): string {
  const steps = Array.from({ length: count }, (_, at) => `  - { name: s${at}, ${step} }`);
  return `name: ${name}\nsteps:\n${steps.join("\n")}\n`;
}
