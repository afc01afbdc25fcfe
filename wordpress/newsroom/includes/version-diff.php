<?php
/**
 * Renders a comparison of lines like WordPress, but with deleted and inserted words and lines marked by elements, in one or two columns.
 * Loaded where versions are compared, after WordPress's own classes.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// phpcs:disable PSR2.Methods.MethodDeclaration.Underscore -- names of WordPress's class.

/**
 * Rows of a table.
 */
class Newsroom_Version_Diff extends WP_Text_Diff_Renderer_Table {

	/** Most pairs of lines that are compared to find out which lines correspond: 300 paragraphs with 300. */
	const MOST_LINE_PAIRS = 90000;

	/** Most pairs of equal words in two lines. The time of a comparison grows with them: a line of 10,000 words has about 1,000,000. */
	const MOST_WORD_PAIRS = 2000000;

	/**
	 * A word, or one character that isn't part of a word, with the space before it. In scripts without spaces each character is a word.
	 */
	const WORD = '/ ?(?:(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])[\p{L}\p{M}\p{N}_])+|\X)/u';

	/**
	 * Whether the first block has started.
	 *
	 * @var bool
	 */
	private $has_started = false;

	/**
	 * Number of times each byte occurs in a line, by line.
	 *
	 * @var array<string,array<int,int>>
	 */
	private $byte_counts = array();

	/**
	 * A row for omitted lines, before each block except one that starts at the top.
	 *
	 * @param string $header Line numbers, such as `3c3`.
	 * @return string
	 */
	public function _startBlock( $header ) {
		$is_at_top         = ! $this->has_started && preg_match( '/^[01](?:\D|$)/', $header );
		$this->has_started = true;
		return $is_at_top ? '' : sprintf( '<tr class="newsroom-diff-gap"><td colspan="%1$d"><span aria-hidden="true">⋯</span><span class="screen-reader-text">%2$s</span></td></tr>', $this->_show_split_view ? 2 : 1, esc_html__( 'Unchanged lines are left out.', 'newsroom' ) );
	}

	/**
	 * Lines that were inserted.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @return string
	 */
	public function _added( $lines, $encode = true ) {
		return $this->whole_lines( $lines, $encode, 'ins' );
	}

	/**
	 * Lines that were deleted.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @return string
	 */
	public function _deleted( $lines, $encode = true ) {
		return $this->whole_lines( $lines, $encode, 'del' );
	}

	/**
	 * Lines that were changed; WordPress guesses which old and new lines correspond.
	 *
	 * @param string[] $orig  Before.
	 * @param string[] $final After.
	 * @return string
	 */
	public function _changed( $orig, $final ) { // phpcs:ignore Universal.NamingConventions.NoReservedKeywordParameterNames
		if ( count( $orig ) * count( $final ) > self::MOST_LINE_PAIRS ) {
			return $this->_deleted( $orig ) . $this->_added( $final );
		}
		list( , , $before, $after ) = $this->interleave_changed_lines( $orig, $final );
		$rows                       = '';
		foreach ( array_keys( $before ) as $row ) {
			$old = $orig[ $before[ $row ] ] ?? null;
			$new = $final[ $after[ $row ] ] ?? null;
			if ( null !== $old && null !== $new ) {
				$rows .= $this->changed_line( $old, $new );
			} elseif ( null !== $old ) {
				$rows .= $this->_deleted( array( $old ) );
			} elseif ( null !== $new ) {
				$rows .= $this->_added( array( $new ) );
			}
		}
		return $rows;
	}

	/**
	 * How different two lines are, as WordPress computes it, but only from the bytes that occur: WordPress compares all 256 of each pair,
	 * which takes ten times as long.
	 *
	 * @param string $string1 Before.
	 * @param string $string2 After.
	 * @return float
	 */
	public function compute_string_distance( $string1, $string2 ) {
		$one      = $this->byte_counts_of( $string1 );
		$two      = $this->byte_counts_of( $string2 );
		$distance = array_sum( array_diff_key( $two, $one ) );
		foreach ( $one as $byte => $count ) {
			$distance += isset( $two[ $byte ] ) ? abs( $count - $two[ $byte ] ) : $count;
		}
		return $distance / max( 1, strlen( $string1 ) );
	}

	/**
	 * Number of times each byte occurs in a line.
	 *
	 * @param string $line Line.
	 * @return array<int,int>
	 */
	private function byte_counts_of( $line ) {
		if ( ! isset( $this->byte_counts[ $line ] ) ) {
			$this->byte_counts[ $line ] = count_chars( $line, 1 );
		}
		return $this->byte_counts[ $line ];
	}

	/**
	 * Text as markup. Unlike esc_html() it shows an entity in the text as it was written.
	 *
	 * @param string $text Text.
	 * @return string
	 */
	private function markup( $text ) {
		return htmlspecialchars( $text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8' );
	}

	/**
	 * Whole lines, marked.
	 *
	 * @param string[] $lines  Lines.
	 * @param bool     $encode Whether they are text and not yet markup.
	 * @param string   $mark   `ins` or `del`.
	 * @return string
	 */
	private function whole_lines( $lines, $encode, $mark ) {
		$rows = '';
		foreach ( $lines as $line ) {
			$text  = $encode ? $this->markup( $line ) : $line;
			$cell  = 'ins' === $mark ? $this->addedLine( "<ins>$text</ins>" ) : $this->deletedLine( "<del>$text</del>" );
			$empty = $this->_show_split_view ? $this->emptyLine() : '';
			$rows .= '<tr>' . ( 'ins' === $mark ? $empty . $cell : $cell . $empty ) . "</tr>\n";
		}
		return $rows;
	}

	/**
	 * A changed line, with its changed words marked; if old and new have little in common, the whole lines are marked.
	 *
	 * @param string $old Before.
	 * @param string $new After.
	 * @return string
	 */
	private function changed_line( $old, $new ) {
		$parts = $this->changed_words( $old, $new );
		if ( ! $parts ) {
			if ( ! $this->_show_split_view ) {
				return $this->_deleted( array( $old ) ) . $this->_added( array( $new ) );
			}
			$parts = array( array( 'del', $old ), array( 'ins', $new ) );
		}
		$before = '';
		$after  = '';
		$inline = '';
		foreach ( $parts as list( $mark, $text ) ) {
			$marked  = '' === $mark ? $this->markup( $text ) : "<$mark>" . $this->markup( $text ) . "</$mark>";
			$inline .= $marked;
			$before .= 'ins' === $mark ? '' : $marked;
			$after  .= 'del' === $mark ? '' : $marked;
		}
		if ( $this->_show_split_view ) {
			return '<tr>' . $this->deletedLine( $before ) . $this->addedLine( $after ) . "</tr>\n";
		}
		return '<tr><td class="newsroom-diff-changed"><span class="screen-reader-text">' . esc_html__( 'Changed:', 'newsroom' ) . " </span>$inline</td></tr>\n";
	}

	/**
	 * The differences between two lines.
	 *
	 * @param string $old Before.
	 * @param string $new After.
	 * @return array[] Parts of the lines in order, each as `del`, `ins` or '' and its text; none if the lines have little in common or are
	 *                 too long to compare.
	 */
	private function changed_words( $old, $new ) {
		$old_words = preg_match_all( self::WORD, $old, $found ) ? $found[0] : array( $old );
		$new_words = preg_match_all( self::WORD, $new, $found ) ? $found[0] : array( $new );
		$old_count = array_count_values( $old_words );
		$pairs     = 0;
		foreach ( array_count_values( $new_words ) as $word => $count ) {
			$pairs += isset( $old_count[ $word ] ) ? $count * $old_count[ $word ] : 0;
		}
		if ( $pairs > self::MOST_WORD_PAIRS ) {
			return array();
		}
		$parts  = array();
		$length = array( '' => 0, 'del' => 0, 'ins' => 0 ); // phpcs:ignore WordPress.Arrays
		foreach ( newsroom_diff( $old_words, $new_words )->getDiff() as $edit ) {
			$texts = array( 'del' => implode( '', (array) $edit->orig ), 'ins' => implode( '', (array) $edit->final ) ); // phpcs:ignore WordPress.Arrays
			if ( $edit instanceof Text_Diff_Op_copy ) {
				$texts = array( '' => $texts['del'] );
			} elseif ( ' ' === substr( $texts['del'], 0, 1 ) && ' ' === substr( $texts['ins'], 0, 1 ) ) {
				// The space before a replaced word isn't part of the change.
				$texts = array( '' => ' ', 'del' => substr( $texts['del'], 1 ), 'ins' => substr( $texts['ins'], 1 ) ); // phpcs:ignore WordPress.Arrays
			}
			foreach ( $texts as $mark => $text ) {
				if ( '' !== (string) $text ) {
					$parts[]          = array( $mark, $text );
					$length[ $mark ] += mb_strlen( $text, 'UTF-8' );
				}
			}
		}
		$changed = $length['del'] + $length['ins'];
		return $changed / max( 1, $changed + 2 * $length[''] ) > $this->_diff_threshold ? array() : $parts;
	}
}
