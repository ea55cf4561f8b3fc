// `pulsegate completion`: shell completion scripts. The scripts call the hidden command `__complete`, so they always match
// the installed version. When `__complete` prints nothing, the shell completes file names.
import type { Argument, Command, Option } from 'commander';
import { printLine } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { choice } from './shared/params.js';

/** Add this last: completion lists the commands that exist. */
export const addCompletion: AddCommands = (program) => {
  program
    .command('completion', 'print a shell completion script', {
      shell: choice('<shell>  shell type', ['bash', 'zsh', 'fish']).required(),
    })
    .help(
      `
Examples:
  bash  pulsegate completion bash > /etc/bash_completion.d/pulsegate
        or in ~/.bashrc: source <(pulsegate completion bash)
  zsh   pulsegate completion zsh > /usr/local/share/zsh/site-functions/_pulsegate
        or in ~/.zshrc after compinit: source <(pulsegate completion zsh)
  fish  pulsegate completion fish > ~/.config/fish/completions/pulsegate.fish`,
    )
    .runs(async ({ io }, { shell }) => void io.stdout.write(SCRIPTS[shell]));

  const { commander, io } = program;
  commander
    .command(COMPLETE, { hidden: true })
    .argument('[word...]')
    .action((words: string[]) => {
      for (const candidate of candidates(commander, words)) printLine(io.stdout, candidate);
    });
};

const COMPLETE = '__complete';

/** The completions of the last of `words`, each with its description behind a tab. The earlier words are complete. */
function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  let at = program;
  let awaiting: Option | null = null;
  for (const word of words.slice(0, -1)) {
    if (awaiting) {
      if (!awaiting.variadic) awaiting = null;
      if (!word.startsWith('-')) continue;
    }
    if (word.startsWith('-')) {
      const option = optionsOf(at, program).find(({ short, long }) => word === long || word === short);
      awaiting = option?.required || option?.optional ? option : null;
      continue;
    }
    at = subcommandsOf(at).find((command) => command.name() === word) ?? at;
  }
  const offered = awaiting && !typed.startsWith('-') ? valuesOf(awaiting) : offers(at, program, typed);
  return offered.filter((candidate) => candidate.startsWith(typed));
}

function offers(at: Command, program: Command, typed: string): string[] {
  if (typed.startsWith('-'))
    return optionsOf(at, program).flatMap(({ long, description, hidden }) =>
      long && !hidden ? [`${long}\t${description}`] : [],
    );
  const names = subcommandsOf(at).map((command) => `${command.name()}\t${command.description()}`);
  return [...names, ...at.registeredArguments.flatMap(valuesOf)];
}

/** The options of the program apply to every command. */
const optionsOf = (at: Command, program: Command): readonly Option[] =>
  at === program ? at.options : [...at.options, ...program.options];

const valuesOf = ({ argChoices = [] }: Option | Argument): string[] => argChoices.map((text) => `${text}\t`);

const subcommandsOf = (at: Command): Command[] =>
  at.commands.filter((command) => command.name() !== COMPLETE);

const SCRIPTS = {
  bash: `# bash completion of pulsegate
_pulsegate() {
  local line=\${COMP_LINE:0:COMP_POINT} words each
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  # Bash splits words at colons: remove the part before the last colon from each completion.
  local last=\${words[\${#words[@]}-1]}
  local before=\${last%"\${last##*:}"}
  COMPREPLY=()
  while IFS= read -r each; do
    each=\${each%%$'\\t'*}
    COMPREPLY+=("\${each#"$before"}")
  done < <("\${words[0]}" ${COMPLETE} -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _pulsegate pulsegate
`,
  zsh: `#compdef pulsegate
_pulsegate() {
  local -a found
  local each
  for each in "\${(@f)$("\${words[1]}" ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $each ]] && found+=("\${\${each%%$'\\t'*}//:/\\\\:}:\${each#*$'\\t'}")
  done
  if (( \${#found} )); then _describe -t commands pulsegate found; else _files; fi
}
if [[ $funcstack[1] == _pulsegate ]]; then _pulsegate "$@"; else compdef _pulsegate pulsegate; fi
`,
  fish: `# fish completion of pulsegate
function __pulsegate_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] ${COMPLETE} -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c pulsegate -f -a '(__pulsegate_complete)'
`,
} as const;
